import type { Pod } from './cluster.ts';
import { podName } from './snapshot.ts';
import { byText } from './text.ts';
import { createLeastAllocated } from './world/least-allocated.ts';
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
} from './world/world.ts';

/** A node that is to be emptied, with the pods that are evicted from it. */
export interface Leaving {
  readonly place: Place;
  readonly pods: readonly Pod[];
}

interface Recreated {
  readonly kind: PodKind;
  readonly name: string;
  readonly cpu: number;
  readonly memory: number;
}

/** Orders in which controllers might create evicted pods again; nobody knows which it will be. */
const orders: readonly ((a: Recreated, b: Recreated) => number)[] = [
  (a, b) => b.cpu - a.cpu || b.memory - a.memory,
  (a, b) => a.cpu - b.cpu || a.memory - b.memory,
  (a, b) => byText(scattered(a.name), scattered(b.name)),
];

/** Read from its end, names of one controller's pods are no longer neighbours. */
const scattered = (name: string): string => [...name].reverse().join('');

/**
 * How many of the nodes, the first ones of the list, can be emptied at once so that every evicted pod finds a place
 * again as kube-scheduler would choose one, in whatever order the pods are created. Leaves the world as it was.
 */
export function mostThatCanLeave(world: World, targets: readonly Place[], leaving: readonly Leaving[]): number {
  let most = leaving.length;
  while (most > 0 && !canLeave(world, targets, leaving.slice(0, most)))
    most = Math.min(most - 1, Math.floor(most * kept));
  return most;
}

/** So many stay in the running after a try that failed. */
const kept = 0.9;

function canLeave(world: World, targets: readonly Place[], leaving: readonly Leaving[]): boolean {
  const pods = leaving.flatMap((each) => each.pods.map((pod) => recreated(world, pod)));
  if (pods.length === 0) return true;
  const places = new Set(leaving.map(({ place }) => place));
  const staying = targets.filter((place) => !places.has(place));
  return tried(world, () => {
    for (const place of places) closePlace(world, place);
    for (const each of leaving) for (const pod of each.pods) remove(world, kindOf(world, pod), each.place, 1);
    return orders.every((order) => tried(world, () => placeAll(world, staying, pods.toSorted(order))));
  });
}

const recreated = (world: World, pod: Pod): Recreated => ({
  kind: kindOf(world, pod),
  name: podName(pod),
  cpu: pod.requests.cpu ?? 0,
  memory: pod.requests.memory ?? 0,
});

function placeAll(world: World, places: readonly Place[], pods: readonly Recreated[]): boolean {
  const index = createLeastAllocated(world, places);
  for (const { kind } of pods) {
    const place = index.find(kind);
    if (!place || howMany(world, kind, place, 1) === 0) return false;
    put(world, kind, place, 1);
    index.changed(place);
  }
  return true;
}
