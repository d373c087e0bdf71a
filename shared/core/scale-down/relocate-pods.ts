import type { Pod } from '../cluster/cluster.ts';
import { podName } from '../decide/snapshot.ts';
import {
  closePlace,
  howMany,
  kindOf,
  looksAround,
  mark,
  type Place,
  type PodKind,
  put,
  remove,
  rollback,
  type World,
} from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';

/** Finds new places for the pods of nodes that are to be emptied, all in one world. */
export interface Mover {
  /** Closes the place and moves its pods away; or says which pod fits nowhere, and leaves all as it was. */
  empty(place: Place, pods: readonly Pod[]): Moved;
  /** The same, and leaves all as it was in any case. */
  tryEmpty(place: Place, pods: readonly Pod[]): Moved;
  /** The pods, the largest first, counted by kind: once for the same list. */
  countsOf(pods: readonly Pod[]): readonly PodCount[];
}

/** So many pods of a kind. */
export interface PodCount {
  readonly kind: PodKind;
  readonly pods: number;
}

type Moved = { readonly to: ReadonlySet<Place> } | { readonly stuck: string };

/**
 * Targets are asked in the given order, so that those that stay are filled before those that might go. Places only
 * fill up while a round lasts: where a kind of pod found no room, it need not ask again.
 */
export function createMover(world: World, targets: readonly Place[]): Mover {
  /** The first target that may have room for a kind. */
  const cursors = new Map<PodKind, number>();
  const counted = new Map<readonly Pod[], readonly PodCount[]>();
  /** Empty between two calls: by number of kind. */
  const byKind: (Counted | undefined)[] = [];
  const countsOf = (pods: readonly Pod[]): readonly PodCount[] => {
    let counts = counted.get(pods);
    if (!counts) {
      counts = largestFirst(world, pods, byKind);
      counted.set(pods, counts);
    }
    return counts;
  };

  /** Moves as many as it can. Returns how many are left, and the first target that had room. */
  const moveKind = (
    kind: PodKind,
    from: Place,
    count: number,
    to: Set<Place>,
  ): { left: number; first: number } => {
    let left = count;
    let first = targets.length;
    const company = looksAround(kind);
    for (let index = cursors.get(kind) ?? 0; index < targets.length && left > 0; index += 1) {
      const target = targets[index];
      if (!target || target === from) continue;
      const pods = howMany(world, kind, target, left);
      // What company forbids now it may allow later; what is full stays full.
      if (first > index && (pods > 0 || (company && isLargeEnough(world, kind, target)))) first = index;
      if (pods === 0) continue;
      remove(world, kind, from, pods);
      put(world, kind, target, pods);
      to.add(target);
      left -= pods;
    }
    return { left, first };
  };

  const attempt = (place: Place, pods: readonly Pod[], keep: boolean): Moved => {
    const before = mark(world);
    closePlace(world, place);
    const to = new Set<Place>();
    const found: [PodKind, number][] = [];
    for (const { kind, pods: count } of countsOf(pods)) {
      const { left, first } = moveKind(kind, place, count, to);
      // Holds for whatever comes later: nothing was moved before it that might be taken back.
      if (found.length === 0) cursors.set(kind, first);
      found.push([kind, first]);
      if (left === 0) continue;
      rollback(world, before);
      const stuck = pods.filter((pod) => kindOf(world, pod) === kind);
      return { stuck: stuck.map(podName).sort()[0] ?? '' };
    }
    if (keep) for (const [kind, first] of found) cursors.set(kind, first);
    else rollback(world, before);
    return { to };
  };
  return {
    empty: (place, pods) => attempt(place, pods, true),
    tryEmpty: (place, pods) => attempt(place, pods, false),
    countsOf,
  };
}

function isLargeEnough(world: World, { columns, amounts }: PodKind, { index }: Place): boolean {
  const row = index * world.width;
  for (let i = 0; i < columns.length; i += 1)
    if ((world.free[row + (columns[i] ?? 0)] ?? 0) < (amounts[i] ?? 0)) return false;
  return world.closed[index] === 0;
}

interface Counted extends PodCount {
  pods: number;
  readonly first: Pod;
}

/** Of equally large kinds the one with the first name. */
function largestFirst(world: World, pods: readonly Pod[], byKind: (Counted | undefined)[]): PodCount[] {
  const counts: Counted[] = [];
  for (const pod of pods) {
    const kind = kindOf(world, pod);
    const count = byKind[kind.id];
    if (count) count.pods += 1;
    else {
      const fresh = { kind, pods: 1, first: pod };
      byKind[kind.id] = fresh;
      counts.push(fresh);
    }
  }
  for (const { kind } of counts) byKind[kind.id] = undefined;
  return counts.sort(
    (a, b) =>
      (b.kind.requests.cpu ?? 0) - (a.kind.requests.cpu ?? 0) ||
      (b.kind.requests.memory ?? 0) - (a.kind.requests.memory ?? 0) ||
      byText(podName(a.first), podName(b.first)),
  );
}
