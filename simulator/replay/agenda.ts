/** What is to happen, the earliest first; at the same time in the order of entry. */
export interface Agenda<Item> {
  add(at: number, item: Item): void;
  next(): number;
  /** Everything up to and including a time. */
  take(until: number): Item[];
}

interface Entry<Item> {
  readonly at: number;
  readonly order: number;
  readonly item: Item;
}

export function createAgenda<Item>(): Agenda<Item> {
  const heap: Entry<Item>[] = [];
  let order = 0;
  const before = (a: Entry<Item>, b: Entry<Item>): boolean =>
    a.at < b.at || (a.at === b.at && a.order < b.order);
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b] as Entry<Item>, heap[a] as Entry<Item>];
  };
  const isBefore = (a: number, b: number): boolean => {
    const [one, other] = [heap[a], heap[b]];
    return one !== undefined && other !== undefined && before(one, other);
  };
  const pop = (): Entry<Item> | undefined => {
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    heap[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = isBefore(left + 1, left) ? left + 1 : left;
      if (!isBefore(child, at)) return top;
      swap(child, at);
      at = child;
    }
  };
  return {
    add(at, item) {
      heap.push({ at, order, item });
      order += 1;
      for (let child = heap.length - 1; child > 0; ) {
        const parent = (child - 1) >> 1;
        if (!isBefore(child, parent)) return;
        swap(child, parent);
        child = parent;
      }
    },
    next: () => heap[0]?.at ?? Number.POSITIVE_INFINITY,
    take(until) {
      const taken: Item[] = [];
      while ((heap[0]?.at ?? Number.POSITIVE_INFINITY) <= until) {
        const entry = pop();
        if (entry) taken.push(entry.item);
      }
      return taken;
    },
  };
}
