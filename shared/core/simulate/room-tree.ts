/**
 * Rows of numbers, one per leaf, over which the first leaf that has enough in every column is found without looking at
 * each: every inner node knows the most that any leaf below it has.
 */
export interface RoomTree {
  /** Leaves in use. */
  readonly size: number;
  /** Sets a leaf to a row of `rows`, which starts at `from`. True when it has more of something than before. */
  set(leaf: number, rows: Float64Array, from: number): boolean;
  /** Nothing fits there any more. */
  clear(leaf: number): void;
  /** False when no leaf has as much: each of several may have enough of one thing. */
  mayHave(columns: Int32Array, amounts: Float64Array): boolean;
  /** The first leaf from `start` on with at least `amounts` in `columns`; -1 when there is none. */
  first(start: number, columns: Int32Array, amounts: Float64Array): number;
}

export function createRoomTree(size: number, width: number): RoomTree {
  let capacity = 1;
  while (capacity < size) capacity *= 2;
  const most = new Float64Array(2 * capacity * width).fill(Number.NEGATIVE_INFINITY);

  const climb = (leaf: number): void => {
    for (let node = (capacity + leaf) >> 1; node > 0; node >>= 1) {
      let changed = false;
      const at = node * width;
      const left = 2 * at;
      for (let column = 0; column < width; column++) {
        const larger = Math.max(most[left + column] as number, most[left + width + column] as number);
        if (most[at + column] !== larger) {
          most[at + column] = larger;
          changed = true;
        }
      }
      if (!changed) return;
    }
  };

  return {
    size,
    set(leaf, rows, from) {
      const at = (capacity + leaf) * width;
      let more = false;
      for (let column = 0; column < width; column++) {
        const value = rows[from + column] as number;
        if (value > (most[at + column] as number)) more = true;
        most[at + column] = value;
      }
      climb(leaf);
      return more;
    },
    clear(leaf) {
      const at = (capacity + leaf) * width;
      most.fill(Number.NEGATIVE_INFINITY, at, at + width);
      climb(leaf);
    },
    mayHave(columns, amounts) {
      for (let i = 0; i < columns.length; i++)
        if ((most[width + (columns[i] as number)] as number) < (amounts[i] as number)) return false;
      return true;
    },
    first(start, columns, amounts) {
      if (start >= size) return -1;
      let node = capacity + start;
      for (;;) {
        const at = node * width;
        let enough = true;
        for (let i = 0; i < columns.length; i++)
          if ((most[at + (columns[i] as number)] as number) < (amounts[i] as number)) {
            enough = false;
            break;
          }
        if (enough) {
          if (node >= capacity) return node - capacity;
          node *= 2;
          continue;
        }
        // On to what is right of it: up as long as it is a right child, then over.
        while ((node & 1) === 1) node >>= 1;
        if (node === 0) return -1;
        node += 1;
      }
    },
  };
}
