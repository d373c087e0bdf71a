import type { Group } from '../decide/demand.ts';
import { isOwn, type PodKind, type World } from '../simulate/simulated-cluster.ts';
import type { Sizes } from './sizes.ts';

/** The order in which groups are given places: indexes of groups. */
export type Order = readonly number[];

type Measure = (index: number) => number;

/**
 * Several ways to say "the largest first": none is the best for all, all of them together come close.
 * The first is the one that counts when there is too much to try more.
 */
export function ordersOf(
  world: World,
  groups: readonly Group[],
  sizes: Sizes,
  choices: Int32Array,
  all: boolean,
): Order[] {
  const amount =
    (name: string): Measure =>
    (index) =>
      groups[index]?.kind.requests[name] ?? 0;
  const dominant: Measure = (index) => sizes.dominant[index] ?? 0;
  const share: Measure = (index) => sizes.share[index] ?? 0;
  // Who can go to few places goes before those who would take them and could have gone elsewhere.
  const pickiness: Measure = (index) => -(choices[index] ?? 0);
  // Who needs a node for each pod goes before those who would fill the nodes without them.
  const nodes = nodesNeeded(world, groups);
  const exclusive: Measure = (index) => nodes[index] ?? 0;
  const measures: Measure[][] = [[pickiness, exclusive, dominant, share]];
  if (all)
    measures.push(
      [pickiness, dominant, share],
      [dominant, share],
      [share, dominant],
      [amount('cpu'), amount('memory')],
      [amount('memory'), amount('cpu')],
      [pickiness, amount('cpu')],
      [pickiness, amount('memory')],
    );
  const seen = new Set<string>();
  return measures
    .map((keys) => sorted(groups, keys))
    .filter((order) => {
      const text = order.join();
      return !seen.has(text) && seen.add(text);
    });
}

/** How many nodes the family of each group needs because only so many of its pods may share one; else 0. */
function nodesNeeded(world: World, groups: readonly Group[]): Float64Array {
  const pods = new Map<number, number>();
  for (const { kind, pods: list } of groups)
    pods.set(kind.family, (pods.get(kind.family) ?? 0) + list.length);
  return Float64Array.from(groups, ({ kind }) => {
    const most = perNode(world, kind);
    return Number.isFinite(most) ? Math.ceil((pods.get(kind.family) ?? 0) / most) : 0;
  });
}

/** How many pods of a kind may be on one node by its own rules. */
function perNode(world: World, { blockers, feeds, spread, spreadFeeds }: PodKind): number {
  if (blockers.some(({ counter }) => isOwn(world, counter.key) && feeds.includes(counter))) return 1;
  const skews = spread
    .filter(({ group }) => isOwn(world, group.counter.key) && spreadFeeds.includes(group))
    .map(({ maxSkew }) => maxSkew);
  return Math.min(...skews);
}

/** Groups are in an order of their own already: what ties keeps it. */
function sorted(groups: readonly Group[], keys: readonly Measure[]): Order {
  return groups
    .map((_, index) => index)
    .sort((a, b) => {
      for (const key of keys) {
        const difference = key(b) - key(a);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
}

/** The same, the more important pods first: for when not all can be served. */
export const byPriority = (groups: readonly Group[], order: Order): Order =>
  order.toSorted((a, b) => (groups[b]?.kind.priority ?? 0) - (groups[a]?.kind.priority ?? 0));
