import type { Group } from '../decide/demand.ts';
import { fits, mark, type Place, rollback, type World } from '../simulate/simulated-cluster.ts';
import type { Order } from './orders.ts';
import { everyone, type Left, type Placement, pack, weigh } from './pack.ts';
import { search } from './search.ts';

export interface Packing {
  readonly left: Left;
  readonly placements: readonly Placement[];
  /** What is left, weighed. */
  readonly rest: number;
}

/** One way, several ways, or every way there is. */
export type Effort = 'quick' | 'several' | 'exact';

/**
 * Where everybody goes, given the machines: nodes that run first, then those to come, in an order that does not
 * depend on when they were chosen. So the next look, while they boot, finds the same room and asks for nothing more.
 * Of several orders of pods and machines the first that leaves least. Leaves the world with the pods in their places.
 */
export function settle(
  world: World,
  groups: readonly Group[],
  orders: readonly Order[],
  running: readonly Place[],
  coming: readonly Place[],
  share: Float64Array,
  effort: Effort,
): Packing {
  const before = mark(world);
  let best: { packing: Packing; order: Order; places: readonly Place[] } | undefined;
  const largestFirst = coming.toSorted((a, b) => size(b) - size(a) || compare(a, b));
  const ways = effort === 'quick' ? [largestFirst] : [largestFirst, largestFirst.toReversed()];
  for (const order of orders)
    for (const way of ways) {
      const places = [...running, ...way];
      const packing = packOnce(world, groups, order, places, share);
      if (packing.rest === 0) return packing;
      if (!best || packing.rest < best.packing.rest - 1e-12) best = { packing, order, places };
      rollback(world, before);
    }
  const [first] = orders;
  if (effort === 'exact' && first) {
    const places = [...running, ...largestFirst];
    const placements = search(world, groups, servable(world, groups, first, places), places);
    const found = placements && packingOf(groups, placements, share);
    if (found && (!best || found.rest < best.packing.rest - 1e-12)) return found;
    rollback(world, before);
  }
  return best
    ? packOnce(world, groups, best.order, best.places, share)
    : { left: everyone(groups), placements: [], rest: 0 };
}

/** Who fits nowhere even alone is no reason to search on for the others. */
const servable = (world: World, groups: readonly Group[], order: Order, places: readonly Place[]): Order =>
  order.filter((index) => {
    const kind = groups[index]?.kind;
    return kind && places.some((place) => fits(world, kind, place));
  });

function packingOf(groups: readonly Group[], placements: readonly Placement[], share: Float64Array): Packing {
  const left = everyone(groups);
  for (const { group, pods } of placements) left[group] = (left[group] ?? 0) - pods;
  return { left, placements, rest: weigh(left, share) };
}

function packOnce(
  world: World,
  groups: readonly Group[],
  order: Order,
  places: readonly Place[],
  share: Float64Array,
): Packing {
  const left = everyone(groups);
  const placements = pack(world, groups, order, places, left);
  return { left, placements, rest: weigh(left, share) };
}

const size = ({ allocatable }: Place): number => allocatable.cpu ?? 0;

const compare = (a: Place, b: Place): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
