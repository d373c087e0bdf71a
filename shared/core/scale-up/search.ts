import type { Group } from '../decide/demand.ts';
import { fits, mark, type Place, put, rollback, type World } from '../simulate/simulated-cluster.ts';
import type { Order } from './orders.ts';
import type { Placement } from './pack.ts';

const mostPods = 24;
const mostSteps = 4_000;

/**
 * Places for all pods of the groups by trying every way, where they are few; undefined when there is none, or none was
 * found soon enough. Leaves the world with the pods in their places, or as it was.
 */
export function search(
  world: World,
  groups: readonly Group[],
  order: Order,
  places: readonly Place[],
): Placement[] | undefined {
  const pods = order.flatMap((index) => Array<number>(groups[index]?.pods.length ?? 0).fill(index));
  if (pods.length > mostPods) return undefined;
  const chosen: number[] = [];
  let steps = mostSteps;
  const placeFrom = (at: number): boolean => {
    const index = pods[at];
    const group = index === undefined ? undefined : groups[index];
    if (index === undefined || !group) return true;
    // Pods of a group are alike: who comes second need not try what the first passed over.
    const first = pods[at - 1] === index ? (chosen[at - 1] ?? 0) : 0;
    for (let to = first; to < places.length; to += 1) {
      const place = places[to];
      if (!place || !fits(world, group.kind, place)) continue;
      if (steps-- <= 0) return false;
      const before = mark(world);
      put(world, group.kind, place, 1);
      chosen[at] = to;
      if (placeFrom(at + 1)) return true;
      rollback(world, before);
    }
    return false;
  };
  if (!placeFrom(0)) return undefined;
  return pods.flatMap((group, at) => {
    const place = places[chosen[at] ?? -1];
    return place ? [{ group, place, pods: 1 }] : [];
  });
}
