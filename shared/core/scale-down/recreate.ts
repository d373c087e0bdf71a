import type { Pod } from '../cluster/cluster.ts';
import { podName } from '../decide/snapshot.ts';
import { createLeastAllocated, type LeastAllocated } from '../simulate/least-allocated.ts';
import { createPlaceIndex } from '../simulate/place-index.ts';
import {
  closePlace,
  howMany,
  kindOf,
  looksAround,
  type Place,
  type PodKind,
  put,
  remove,
  tried,
  type World,
} from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { type Emptied, manyPods, mostWithSlack } from './slack.ts';

/** The pods one by one as well. */
export interface Leaving extends Emptied {
  readonly pods: readonly Pod[];
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

/** Orders in which controllers might create evicted pods again: the real one is not known. */
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

/**
 * How many pods are placed to find out. A small drain is tried in every order with every scheduler, a large one in
 * fewer orders.
 */
const mostPlaced = 24_000;

/**
 * How many of the nodes, the first ones of the list, can be emptied at once so that every evicted pod finds a place
 * again, in whatever order the pods are created. Leaves the world as it was.
 */
export function mostThatCanLeave(
  world: World,
  targets: readonly Place[],
  leaving: readonly Leaving[],
): number {
  let most = mostWithSlack(world, targets, leaving);
  while (most > 0 && !canLeave(world, targets, leaving.slice(0, most)))
    most = Math.min(most - 1, Math.floor(most * kept));
  return most;
}

/** So many of them are tried after a try that failed. */
const kept = 0.9;

function canLeave(world: World, targets: readonly Place[], leaving: readonly Leaving[]): boolean {
  const pods = leaving.reduce((sum, each) => sum + each.pods.length, 0);
  if (pods === 0) return true;
  const places = new Set(leaving.map(({ place }) => place));
  const staying = targets.filter((place) => !places.has(place));
  return tried(world, () => {
    for (const { place, counts } of leaving) {
      closePlace(world, place);
      // Those that are not tried and that no other pod minds make no difference where they are.
      for (const { kind, pods: count } of counts)
        if (pods <= manyPods || isMinded(kind)) remove(world, kind, place, count);
    }
    const recreated = pods > manyPods ? bundled(leaving) : singly(world, leaving);
    const tries = orders.flatMap((order) => schedulers.map((scheduler) => ({ order, scheduler })));
    return tries
      .slice(0, Math.max(1, Math.floor(mostPlaced / pods)))
      .every(({ order, scheduler }) =>
        tried(world, () => placeAll(world, scheduler(world, staying), recreated.toSorted(order))),
      );
  });
}

const isMinded = (kind: PodKind): boolean =>
  looksAround(kind) || kind.feeds.length > 0 || kind.spreadFeeds.length > 0;

const singly = (world: World, leaving: readonly Leaving[]): Recreated[] =>
  leaving.flatMap(({ pods }) => pods.map((pod) => recreatedAs(kindOf(world, pod), pod, 1, 17)));

const recreatedAs = (kind: PodKind, pod: Pod, pods: number, seed: number): Recreated => ({
  kind,
  pods,
  name: podName(pod),
  cpu: pod.requests.cpu ?? 0,
  memory: pod.requests.memory ?? 0,
  chance: hash(pod.namespace, hash(pod.name, seed)),
});

function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++)
    value = (Math.imul(value ^ text.charCodeAt(index), 0x01000193) ^ (value >>> 13)) >>> 0;
  return value;
}

/** Of a large drain only pods that mind others are tried, all of a kind at once: the slack is for the rest. */
function bundled(leaving: readonly Leaving[]): Recreated[] {
  const totals = new Map<PodKind, number>();
  for (const { counts } of leaving)
    for (const { kind, pods } of counts)
      if (looksAround(kind)) totals.set(kind, (totals.get(kind) ?? 0) + pods);
  return [...totals].map(([kind, pods]) => recreatedAs(kind, kind.example, pods, 17));
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
