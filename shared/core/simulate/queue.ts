interface Item<Value> {
  readonly rank: number;
  /** Where in the value it stands. */
  readonly at: number;
  readonly value: Value;
}

/** The item of the least rank comes first. Ranks are unique. */
export interface Queue<Value> {
  push(rank: number, at: number, value: Value): void;
  pop(): Item<Value> | undefined;
  /** The rank of the first item; infinite when there is none. */
  least(): number;
  clear(): void;
}

export function createQueue<Value>(): Queue<Value> {
  const heap: Item<Value>[] = [];
  const rankAt = (index: number): number => heap[index]?.rank ?? Number.POSITIVE_INFINITY;
  return {
    push(rank, at, value) {
      const item = { rank, at, value };
      let index = heap.length;
      heap.push(item);
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (rankAt(parent) <= rank) break;
        heap[index] = heap[parent] as Item<Value>;
        index = parent;
      }
      heap[index] = item;
    },
    pop() {
      const [first] = heap;
      const last = heap.pop();
      if (!first || !last || heap.length === 0) return first;
      let index = 0;
      for (;;) {
        const left = 2 * index + 1;
        const child = rankAt(left + 1) < rankAt(left) ? left + 1 : left;
        if (rankAt(child) >= last.rank) break;
        heap[index] = heap[child] as Item<Value>;
        index = child;
      }
      heap[index] = last;
      return first;
    },
    least: () => rankAt(0),
    clear: () => {
      heap.length = 0;
    },
  };
}
