import type { Group } from '../decide/demand.ts';
import { createPlaceIndex } from '../simulate/place-index.ts';
import { howMany, looksAround, type Place, put, type World } from '../simulate/simulated-cluster.ts';
import type { Order } from './orders.ts';

/** So many pods of a group at a place. */
export interface Placement {
  readonly group: number;
  readonly place: Place;
  readonly pods: number;
}

/** How many pods of every group are still without a place. */
export type Left = Int32Array;

export const everyone = (groups: readonly Group[]): Left =>
  Int32Array.from(groups, ({ pods }) => pods.length);

/**
 * First fit: every group in turn takes what room there is, in the order of the places. Groups whose rules look at other
 * pods are asked again as long as that helps: what refused them may have changed. Changes the world and `left`.
 */
export function pack(
  world: World,
  groups: readonly Group[],
  order: Order,
  places: readonly Place[],
  left: Left,
): Placement[] {
  const index = createPlaceIndex(world, places);
  const placements: Placement[] = [];
  const placeGroup = (at: number): void => {
    const group = groups[at];
    let waiting = left[at] ?? 0;
    if (!group) return;
    while (waiting > 0) {
      const place = index.find(group.kind);
      if (!place) break;
      const pods = howMany(world, group.kind, place, waiting);
      put(world, group.kind, place, pods);
      index.changed(place);
      placements.push({ group: at, place, pods });
      waiting -= pods;
    }
    left[at] = waiting;
  };
  for (const at of order) placeGroup(at);
  const again = order.filter((at) => (left[at] ?? 0) > 0 && looksAround((groups[at] as Group).kind));
  for (let before = -1; again.length > 0 && placements.length > before; ) {
    before = placements.length;
    for (const at of again) placeGroup(at);
  }
  return placements;
}

/** What is left, weighed: the less the better. */
export function weigh(left: Left, share: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (share[index] ?? 0);
  return sum;
}
