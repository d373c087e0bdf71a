import type { Pod } from '../cluster/cluster.ts';
import { podName } from '../decide/snapshot.ts';
import { createLeastAllocated, type LeastAllocated } from '../simulate/least-allocated.ts';
import { createPlaceIndex } from '../simulate/place-index.ts';
import {
  closePlace,
  howMany,
  kindOf,
  type Place,
  type PodKind,
  put,
  remove,
  tried,
  type World,
} from '../simulate/world.ts';
import { byText } from '../text.ts';

/** A node that is to be emptied, with the pods that are evicted from it. */
export interface Leaving {
  readonly place: Place;
  readonly pods: readonly Pod[];
}

interface Evicted extends Recreated {
  readonly from: Place;
}

/** Pods of one kind that are created one right after the other. */
interface Recreated {
  readonly kind: PodKind;
  readonly pods: number;
  readonly name: string;
  readonly cpu: number;
  readonly memory: number;
  /** Scatters the pods of one controller. */
  readonly chance: number;
}

/** Orders in which controllers might create evicted pods again; nobody knows which it will be. */
const orders: readonly ((a: Recreated, b: Recreated) => number)[] = [
  (a, b) => a.chance - b.chance,
  (a, b) => a.cpu - b.cpu || a.memory - b.memory || a.chance - b.chance,
  (a, b) => b.cpu - a.cpu || b.memory - a.memory || b.chance - a.chance,
  (a, b) => byText(a.name, b.name),
  (a, b) => byText(b.name, a.name),
  (a, b) => (a.chance % 65_521) - (b.chance % 65_521),
  (a, b) => (a.chance % 8_191) - (b.chance % 8_191),
  (a, b) => a.memory - b.memory || b.chance - a.chance,
];

type Scheduler = Pick<LeastAllocated, 'find' | 'changed'>;

/** kube-scheduler prefers nodes with most room left; its other scores may lead anywhere. */
const schedulers: readonly ((world: World, places: readonly Place[]) => Scheduler)[] = [
  createLeastAllocated,
  createPlaceIndex,
  (world, places) => createPlaceIndex(world, places.toReversed()),
];

/** So many times something is placed to find out; of large drains fewer orders are tried, but never fewer than two. */
const mostPlaced = 24_000;

/** The pods of a larger drain are created in bundles. */
const mostBundles = 6_000;

/**
 * How many of the nodes, the first ones of the list, can be emptied at once so that every evicted pod finds a place
 * again, in whatever order the pods are created. Leaves the world as it was.
 */
export function mostThatCanLeave(
  world: World,
  targets: readonly Place[],
  leaving: readonly Leaving[],
): number {
  const evicted = leaving.map(({ place, pods }) => pods.map((pod) => evictedFrom(world, place, pod)));
  let most = leaving.length;
  while (most > 0 && !canLeave(world, targets, leaving.slice(0, most), evicted.slice(0, most).flat()))
    most = Math.min(most - 1, Math.floor(most * kept));
  return most;
}

/** So many of them are tried after a try that failed. */
const kept = 0.9;

const evictedFrom = (world: World, from: Place, pod: Pod): Evicted => ({
  kind: kindOf(world, pod),
  pods: 1,
  from,
  name: podName(pod),
  cpu: pod.requests.cpu ?? 0,
  memory: pod.requests.memory ?? 0,
  chance: hash(pod.namespace, hash(pod.name, 17)),
});

function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++)
    value = (Math.imul(value ^ text.charCodeAt(index), 0x01000193) ^ (value >>> 13)) >>> 0;
  return value;
}

function canLeave(
  world: World,
  targets: readonly Place[],
  leaving: readonly Leaving[],
  evicted: readonly Evicted[],
): boolean {
  if (evicted.length === 0) return true;
  const places = new Set(leaving.map(({ place }) => place));
  const staying = targets.filter((place) => !places.has(place));
  if (evicted.length > manyPods && !leavesSlack(world, staying, evicted)) return false;
  return tried(world, () => {
    for (const place of places) closePlace(world, place);
    for (const { kind, from } of evicted) remove(world, kind, from, 1);
    const recreated = bundled(evicted);
    const tries = orders.flatMap((order) => schedulers.map((scheduler) => ({ order, scheduler })));
    return tries
      .slice(0, Math.max(2, Math.floor(mostPlaced / recreated.length)))
      .every(({ order, scheduler }) =>
        tried(world, () => placeAll(world, scheduler(world, staying), recreated.toSorted(order))),
      );
  });
}

function bundled(evicted: readonly Evicted[]): readonly Recreated[] {
  const size = Math.ceil(evicted.length / mostBundles);
  if (size === 1) return evicted;
  const bundles: (Recreated & { pods: number })[] = [];
  const open = new Map<PodKind, (typeof bundles)[number]>();
  for (const each of evicted) {
    const bundle = open.get(each.kind);
    if (bundle && bundle.pods < size) bundle.pods += 1;
    else {
      const fresh = { ...each };
      open.set(each.kind, fresh);
      bundles.push(fresh);
    }
  }
  return bundles;
}

/** From so many pods on, nodes that would be filled to the brim are not tried: some order would leave a pod over. */
const manyPods = 1_000;
const mostOfRoom = 0.97;

function leavesSlack(world: World, staying: readonly Place[], evicted: readonly Evicted[]): boolean {
  const asked = new Float64Array(world.width);
  const free = new Float64Array(world.width);
  for (const { kind } of evicted)
    for (const [at, column] of kind.columns.entries())
      asked[column] = (asked[column] as number) + (kind.amounts[at] as number);
  for (const { index } of staying)
    for (let column = 0; column < world.width; column++)
      free[column] =
        (free[column] as number) + Math.max(0, world.free[index * world.width + column] as number);
  return asked.every((amount, column) => amount <= (free[column] as number) * mostOfRoom);
}

/** One after the other: a pod that has to wait for others to be placed first is one that waits. */
function placeAll(world: World, index: Scheduler, recreated: readonly Recreated[]): boolean {
  for (const { kind, pods } of recreated)
    for (let waiting = pods; waiting > 0; ) {
      const place = index.find(kind);
      if (!place) return false;
      const count = waiting === 1 ? 1 : howMany(world, kind, place, waiting);
      put(world, kind, place, count);
      index.changed(place);
      waiting -= count;
    }
  return true;
}
