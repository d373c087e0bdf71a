/** Numbers that are the same for the same seed. */
export interface Random {
  /** From 0 to just below 1. */
  next(): number;
  /** From `low` to `high`, both included. */
  int(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(share: number): boolean;
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** splitmix32. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    pick: <Item>(items: readonly Item[]): Item => items[int(0, items.length - 1)] as Item,
    chance: (share) => next() < share,
    shuffled: (items) => {
      const copy = [...items];
      for (let last = copy.length - 1; last > 0; last -= 1) {
        const other = int(0, last);
        const kept = copy[last] as (typeof copy)[number];
        copy[last] = copy[other] as (typeof copy)[number];
        copy[other] = kept;
      }
      return copy;
    },
  };
}
