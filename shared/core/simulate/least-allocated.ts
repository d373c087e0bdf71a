import { answerOf, answers } from './judge.ts';
import type { PodKind } from './kind.ts';
import { cellsOf } from './place-index.ts';
import { createQueue } from './queue.ts';
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
  /** A heap-shaped tree: leaves from `capacity` on, every inner node has the most of its two children. */
  readonly most: Float64Array;
  readonly capacity: number;
}

export function createLeastAllocated(world: World, places: readonly Place[]): LeastAllocated {
  const cpu = world.columns.get('cpu');
  const memory = world.columns.get('memory');
  /** Mean of the shares of cpu and memory that are free. */
  const freeShare = ({ index, allocatable }: Place): number => {
    const share = (column: number | undefined, all: number | undefined): number =>
      column === undefined || !all ? 0 : (world.free[index * world.width + column] as number) / all;
    return share(cpu, allocatable.cpu) + share(memory, allocatable.memory);
  };
  const at = new Map<Place, { readonly cell: Cell; readonly leaf: number }>();
  const cells = cellsOf(world, places).map((each): Cell => {
    let capacity = 1;
    while (capacity < each.places.length) capacity *= 2;
    const most = new Float64Array(2 * capacity).fill(Number.NEGATIVE_INFINITY);
    const cell = { places: each.places, most, capacity };
    for (const [leaf, place] of each.places.entries()) {
      at.set(place, { cell, leaf });
      if (world.closed[place.index] === 0) most[capacity + leaf] = freeShare(place);
    }
    for (let node = capacity - 1; node > 0; node--)
      most[node] = Math.max(most[2 * node] as number, most[2 * node + 1] as number);
    return cell;
  });

  /** The emptiest of a cell that takes the pod. */
  const bestOf = ({ places: those, most, capacity }: Cell, kind: PodKind): Place | undefined => {
    let top = 1;
    while (top < capacity) top = most[2 * top] === most[top] ? 2 * top : 2 * top + 1;
    const emptiest = those[top - capacity];
    if (emptiest && answerOf(world, kind, emptiest) === answers.yes) return emptiest;
    const queue = createQueue<number>();
    const add = (node: number): void => {
      const share = most[node] as number;
      if (share > Number.NEGATIVE_INFINITY) queue.push(-share, 0, node);
    };
    add(1);
    for (let item = queue.pop(); item; item = queue.pop()) {
      let node = item.value;
      // Down to the emptiest below it; what is passed by may come later.
      while (node < capacity) {
        const left = most[2 * node] === most[node];
        add(left ? 2 * node + 1 : 2 * node);
        node = left ? 2 * node : 2 * node + 1;
      }
      const place = those[node - capacity] as Place;
      const answer = answerOf(world, kind, place);
      if (answer === answers.yes) return place;
      if (answer === answers.refusedAround || answer === answers.lonelyAround) return undefined;
    }
    return undefined;
  };

  return {
    find(kind) {
      let found: Place | undefined;
      let share = Number.NEGATIVE_INFINITY;
      for (const cell of cells) {
        if ((cell.most[1] as number) <= share) continue;
        const best = bestOf(cell, kind);
        const own = best ? freeShare(best) : Number.NEGATIVE_INFINITY;
        if (!best || own <= share) continue;
        found = best;
        share = own;
      }
      return found;
    },
    changed(place) {
      const there = at.get(place);
      if (!there) return;
      const { most, capacity } = there.cell;
      let node = capacity + there.leaf;
      most[node] = freeShare(place);
      for (node >>= 1; node > 0; node >>= 1)
        most[node] = Math.max(most[2 * node] as number, most[2 * node + 1] as number);
    },
  };
}
