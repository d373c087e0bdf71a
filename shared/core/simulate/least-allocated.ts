import { answerOf, answers } from './fits.ts';
import { cellsOf } from './place-index.ts';
import type { PodKind } from './pod-class.ts';
import type { Place, World } from './state.ts';

/** Places, and the one that kube-scheduler prefers for a pod: of those that take it the one with most room left. */
export interface LeastAllocated {
  find(kind: PodKind): Place | undefined;
  /** Something was put there. */
  changed(place: Place): void;
}

/** Places of one class in the same domains, with the most that any of a part of them has free. */
interface Cell {
  readonly places: readonly Place[];
  /**
   * A heap-shaped tree of rows: leaves from `capacity` on, every inner node has the most of its two children. A row is
   * what is free of every resource, then the mean of the shares of cpu and memory that are free.
   */
  readonly most: Float64Array;
  readonly capacity: number;
  /** Per place the last family that a pod on it refused: until something leaves, it refuses the next pod as well. */
  readonly refused: Int32Array;
}

export function createLeastAllocated(world: World, places: readonly Place[]): LeastAllocated {
  const cpu = world.columns.get('cpu');
  const memory = world.columns.get('memory');
  const { width } = world;
  const row = width + 1;
  const freeShare = ({ index, allocatable }: Place): number => {
    const share = (column: number | undefined, all: number | undefined): number =>
      column === undefined || !all ? 0 : (world.free[index * width + column] as number) / all;
    return share(cpu, allocatable.cpu) + share(memory, allocatable.memory);
  };
  const setLeaf = ({ most, capacity }: Cell, leaf: number, place: Place): void => {
    const at = (capacity + leaf) * row;
    for (let column = 0; column < width; column++)
      most[at + column] = world.free[place.index * width + column] as number;
    most[at + width] = freeShare(place);
  };
  /** True when anything changed. */
  const setInner = ({ most }: Cell, node: number): boolean => {
    let changed = false;
    const at = node * row;
    for (let column = 0; column < row; column++) {
      const left = most[2 * at + column] as number;
      const right = most[2 * at + row + column] as number;
      const larger = Math.max(left, right);
      if (most[at + column] === larger) continue;
      most[at + column] = larger;
      changed = true;
    }
    return changed;
  };
  const at = new Map<Place, { readonly cell: Cell; readonly leaf: number }>();
  const cells = cellsOf(world, places).map((each): Cell => {
    let capacity = 1;
    while (capacity < each.places.length) capacity *= 2;
    const most = new Float64Array(2 * capacity * row).fill(Number.NEGATIVE_INFINITY);
    const refused = new Int32Array(each.places.length).fill(-1);
    const cell = { places: each.places, most, capacity, refused };
    for (const [leaf, place] of each.places.entries()) {
      at.set(place, { cell, leaf });
      if (world.closed[place.index] === 0) setLeaf(cell, leaf, place);
    }
    for (let node = capacity - 1; node > 0; node--) setInner(cell, node);
    return cell;
  });
  /** Parts of a tree that are still to be looked at: one per level. */
  const stack = new Int32Array(64);

  /** The emptiest of a cell that takes the pod and is emptier than `share`. The emptier half of a tree comes first. */
  const bestOf = (cell: Cell, kind: PodKind, share: number): Place | undefined => {
    const { most, capacity, refused } = cell;
    const { columns, amounts } = kind;
    let found: Place | undefined;
    let least = share;
    let height = 0;
    stack[height++] = 1;
    next: while (height > 0) {
      let node = stack[--height] as number;
      for (;;) {
        const from = node * row;
        if ((most[from + width] as number) <= least) continue next;
        for (let i = 0; i < columns.length; i++)
          if ((most[from + (columns[i] as number)] as number) < (amounts[i] as number)) continue next;
        if (node >= capacity) break;
        const left = (most[2 * from + width] as number) >= (most[2 * from + row + width] as number);
        stack[height++] = left ? 2 * node + 1 : 2 * node;
        node = left ? 2 * node : 2 * node + 1;
      }
      const leaf = node - capacity;
      if (refused[leaf] === kind.family) continue;
      const place = cell.places[leaf] as Place;
      const answer = answerOf(world, kind, place);
      if (answer === answers.refusedByPod) refused[leaf] = kind.family;
      if (answer === answers.refusedAround || answer === answers.lonelyAround) return undefined;
      if (answer !== answers.yes) continue;
      found = place;
      least = most[node * row + width] as number;
    }
    return found;
  };

  return {
    find(kind) {
      let found: Place | undefined;
      let share = Number.NEGATIVE_INFINITY;
      for (const cell of cells) {
        const best = bestOf(cell, kind, share);
        if (!best) continue;
        found = best;
        share = freeShare(best);
      }
      return found;
    },
    changed(place) {
      const there = at.get(place);
      if (!there) return;
      const { cell, leaf } = there;
      setLeaf(cell, leaf, place);
      for (let node = (cell.capacity + leaf) >> 1; node > 0 && setInner(cell, node); node >>= 1);
    },
  };
}
