/** A generator whose numbers follow from its seed: what it found can be found again. */
export interface Random {
  /** 0 ≤ n < below. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  bytes(length: number): Buffer;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // Mulberry32: small, fast, and good enough to break things with.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      return items[below(items.length)] as Item;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
