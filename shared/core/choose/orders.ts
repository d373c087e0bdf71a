import type { Group } from '../demand.ts';
import type { Sizes } from './sizes.ts';

/** The order in which groups are given places: indexes of groups. */
export type Order = readonly number[];

type Measure = (index: number) => number;

/**
 * Several ways to say "the largest first": none is the best for all, all of them together come close.
 * The first is the one that counts when there is too much to try more.
 */
export function ordersOf(groups: readonly Group[], sizes: Sizes, choices: Int32Array, all: boolean): Order[] {
  const amount =
    (name: string): Measure =>
    (index) =>
      groups[index]?.kind.requests[name] ?? 0;
  const dominant: Measure = (index) => sizes.dominant[index] ?? 0;
  const share: Measure = (index) => sizes.share[index] ?? 0;
  // Who can go to few places goes before those who would take them and could have gone elsewhere.
  const pickiness: Measure = (index) => -(choices[index] ?? 0);
  const measures: Measure[][] = [[pickiness, dominant, share]];
  if (all)
    measures.push(
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
