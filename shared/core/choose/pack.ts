import type { Group } from '../demand.ts';
import { howMany, type Place, put, type World } from '../world/world.ts';
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

/** First fit: every group in turn takes what room there is, place by place. Changes the world and `left`. */
export function pack(
  world: World,
  groups: readonly Group[],
  order: Order,
  places: readonly Place[],
  left: Left,
): Placement[] {
  const placements: Placement[] = [];
  for (const index of order) {
    const group = groups[index];
    let waiting = left[index] ?? 0;
    if (!group || waiting === 0 || group.kind.impossible !== undefined) continue;
    for (const place of places) {
      const pods = howMany(world, group.kind, place, waiting);
      if (pods === 0) continue;
      put(world, group.kind, place, pods);
      placements.push({ group: index, place, pods });
      waiting -= pods;
      if (waiting === 0) break;
    }
    left[index] = waiting;
  }
  return placements;
}

/** What is left, weighed: the less the better. */
export function weigh(left: Left, share: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (share[index] ?? 0);
  return sum;
}
