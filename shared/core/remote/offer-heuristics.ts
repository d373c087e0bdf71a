import type { Group } from '../decide/demand.ts';
import type { Shelf } from '../scale-up/machine-groups.ts';
import { isBetter } from '../scale-up/plan-cost.ts';
import type { Draft } from '../scale-up/planning-context.ts';
import { hourlyPrice } from './offer.ts';

/** So many ways to do with fewer offers are looked at. */
const mostLooks = 12;

export const lends = ({ make }: Shelf): boolean => make?.lending !== undefined;

/**
 * Whether a shelf is the cheapest of all that are lent for pods of a group: where one offer has cheap cores and another
 * cheap memory, each had better hold the pods that are cheap there.
 */
export function cheapestFor(shelves: readonly Shelf[]): (group: Group, shelf: Shelf) => boolean {
  const priceOn = ({ kind }: Group, { make }: Shelf): number =>
    make?.lending ? hourlyPrice({ ...make.lending.offer.price, slice: 0 }, kind.requests) : 0;
  const lent = shelves.filter(lends);
  const lowest = new Map<Group, number>();
  return (group, shelf) => {
    let least = lowest.get(group);
    if (least === undefined) {
      least = Math.min(...lent.map((each) => priceOn(group, each)));
      lowest.set(group, least);
    }
    return !lends(shelf) || priceOn(group, shelf) <= least * (1 + 1e-9);
  };
}

/** A slice may have a price for being one: what one offer fewer leaves to the others may be cheaper. */
export function withFewerOffers(
  first: Draft,
  without: (left: ReadonlySet<Shelf>) => Draft | undefined,
): Draft {
  let best = first;
  let out: ReadonlySet<Shelf> = new Set();
  for (let looks = mostLooks; looks > 0; ) {
    const used = new Set(best.chosen.map(({ box }) => box.shelf).filter(lends));
    if (used.size < 2) return best;
    let better = false;
    for (const shelf of used) {
      if (looks-- <= 0) return best;
      const fewer = new Set([...out, shelf]);
      const next = without(fewer);
      if (!next || !isBetter(next.value, best.value)) continue;
      best = next;
      out = fewer;
      better = true;
      break;
    }
    if (!better) return best;
  }
  return best;
}
