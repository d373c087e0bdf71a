import { nodeOfMachine, type Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { OfferRules } from '../settings.ts';
import { byText } from '../text.ts';
import { hourlyPrice, type Offer } from './offer.ts';

/** On every slice: the cluster that provides it. */
export const providerLabel = 'liqo.io/remote-cluster-id';

/**
 * A slice counts as long as it is not known to be gone, whatever state its record is in: one that failed may be granted
 * yet, until it is given back.
 */
export const isHeld = (machine: Machine): boolean => {
  const { spec, status } = machine;
  const mayBeThere = status.powerState !== 'off' || status.lastError !== undefined;
  return capacityOf(machine) !== 'none' || (spec.offer !== undefined && mayBeThere);
};

export const offersById = ({ offers = [] }: Pick<Situation, 'offers'>): ReadonlyMap<string, Offer> =>
  new Map(offers.map((offer) => [offer.id, offer]));

/** The current hourly price of a machine: as agreed, or higher if its offer has become more expensive. */
export function rateOf({ spec }: Machine, offers: ReadonlyMap<string, Offer>): number {
  const agreed = spec.pricing?.hourlyRate ?? 0;
  const offer = offers.get(spec.offer ?? '');
  return offer ? Math.max(agreed, hourlyPrice(offer.price, spec.resources)) : agreed;
}

/** Why the pool does not take the offer, or nothing. */
export function whyNotTaken(
  { provider, region, validUntil, latencyMs }: Offer,
  { providers, regions = [], onlyRegions, maxLatencyMs }: OfferRules,
  now: number,
): Reason | undefined {
  if (validUntil <= now) return { code: 'offer-expired', agoMs: now - validUntil };
  if (providers && !providers.includes(provider)) return { code: 'provider-excluded', provider };
  if (onlyRegions && !regions.includes(region ?? ''))
    return region === undefined ? { code: 'region-unknown' } : { code: 'region-excluded', region };
  if (maxLatencyMs !== undefined && (latencyMs ?? Number.POSITIVE_INFINITY) > maxLatencyMs)
    return latencyMs === undefined
      ? { code: 'latency-unknown' }
      : { code: 'latency-too-high', latencyMs, most: maxLatencyMs };
  return undefined;
}

/**
 * Offers that a slice in trouble speaks against, and why: one that failed, is not served well or got less than was
 * asked for tells about its offer, one whose node is silent about all of its provider.
 */
export function troubles(situation: Situation): (offer: Offer) => Reason | undefined {
  const { now, settings } = situation;
  const ofOffer = new Map<string, Reason>();
  const ofProvider = new Map<string, Reason>();
  for (const machine of situation.machines) {
    const { spec, status, metrics } = machine;
    const slice = spec.name;
    if (spec.offer === undefined) continue;
    if (capacityOf(machine) === 'none' && status.lastError)
      ofOffer.set(spec.offer, { code: 'slice-failed', slice, error: status.lastError.message });
    else if (
      capacityOf(machine) !== 'none' &&
      (metrics.health === 'critical' || metrics.health === 'warning')
    )
      ofOffer.set(spec.offer, { code: 'slice-unhealthy', slice, problems: problemsOf(machine) });
    else if (status.shortGrantAt !== undefined && now - status.shortGrantAt < settings.timings.retryAfterMs)
      ofOffer.set(spec.offer, { code: 'short-grant', slice });
    const provider = spec.labels?.[providerLabel];
    if (provider !== undefined && isSilent(situation, machine))
      ofProvider.set(provider, { code: 'provider-not-ready', node: status.kubernetesNode, provider });
  }
  return ({ id, provider }) => ofOffer.get(id) ?? ofProvider.get(provider);
}

const problemsOf = ({ metrics }: Machine): string => metrics.problems?.join(', ') || (metrics.health ?? '');

const isSilent = (situation: Situation, machine: Machine): boolean =>
  capacityOf(machine) === 'serving' && nodeOfMachine(situation, machine)?.ready !== true;

/** Why a slice should be returned, although pods may need it. */
export interface Withdrawal {
  readonly why: Reason;
  /** It is served as before, for more: whatever is dearer still is no better. */
  readonly price?: number | undefined;
}

/** Slices whose offer has changed. Without known offers nothing is returned. */
export function withdrawals(situation: Situation): ReadonlyMap<string, Withdrawal> {
  const found = new Map<string, Withdrawal>();
  if (!situation.offers) return found;
  const offers = offersById(situation);
  for (const machine of situation.machines) {
    const capacity = capacityOf(machine);
    if (machine.spec.offer === undefined || (capacity !== 'serving' && capacity !== 'coming')) continue;
    const withdrawal = withdrawalOf(machine, offers, situation.now);
    if (withdrawal) found.set(machine.spec.name, withdrawal);
  }
  return found;
}

function withdrawalOf(
  machine: Machine,
  offers: ReadonlyMap<string, Offer>,
  now: number,
): Withdrawal | undefined {
  const { spec, metrics } = machine;
  if (metrics.health === 'critical')
    return { why: { code: 'provider-stopped', problems: problemsOf(machine) } };
  const offer = offers.get(spec.offer ?? '');
  if (!offer) return { why: { code: 'offer-gone', offer: spec.offer ?? '' } };
  if (offer.validUntil <= now)
    return { why: { code: 'slice-expired', offer: offer.id, agoMs: now - offer.validUntil } };
  const agreed = spec.pricing?.hourlyRate ?? 0;
  const price = hourlyPrice(offer.price, spec.resources);
  return price > agreed * (1 + 1e-9)
    ? { why: { code: 'price-raised', offer: offer.id, price, agreed }, price }
    : undefined;
}

interface Scope {
  /** Absent: the cluster. */
  readonly pool?: string | undefined;
  readonly most: number;
  readonly of: readonly Machine[];
}

/** Whose costs are limited, and what counts. */
const budgetsOf = ({ machines, members, pools, settings }: Situation): Scope[] =>
  [
    ...pools.map(({ name, limits }) => ({
      pool: name,
      most: limits.hourlyCost ?? 0,
      of: members.get(name) ?? [],
    })),
    { most: settings.limits.hourlyCost ?? 0, of: machines },
  ].filter(({ most }) => most > 0);

/** Whether a slice that is leaving may as well stay, as far as its offer and the budgets go. */
export function maySliceStay(situation: Situation): (machine: Machine) => boolean {
  const offers = offersById(situation);
  const costOf = (of: readonly Machine[]): number =>
    of.reduce((sum, machine) => sum + (isHeld(machine) ? rateOf(machine, offers) : 0), 0);
  const spent = budgetsOf(situation).filter(({ most, of }) => costOf(of) > most + rounding);
  return (machine) =>
    machine.spec.offer === undefined ||
    ((!situation.offers || !withdrawalOf(machine, offers, situation.now)) &&
      !spent.some(({ of }) => of.includes(machine)));
}

/** Sums of prices are not exact. */
export const rounding = 1e-9;

/** Slices that have to go because all that is on costs more than allowed: the dearest first, until it does not. */
export function overBudget(situation: Situation): ReadonlyMap<string, Reason> {
  const offers = offersById(situation);
  const found = new Map<string, Reason>();
  for (const { pool, most, of } of budgetsOf(situation)) {
    // Slices that are leaving will cost nothing.
    const staying = of.filter(
      (machine) => isHeld(machine) && capacityOf(machine) !== 'leaving' && !found.has(machine.spec.name),
    );
    let cost = staying.reduce((sum, machine) => sum + rateOf(machine, offers), 0);
    const lent = staying
      .filter((machine) => machine.spec.offer !== undefined && capacityOf(machine) === 'serving')
      .sort((a, b) => rateOf(b, offers) - rateOf(a, offers) || byText(a.spec.name, b.spec.name));
    for (const machine of lent) {
      if (cost <= most + rounding) break;
      found.set(machine.spec.name, { code: 'over-hourly-cost', pool, cost, most });
      cost -= rateOf(machine, offers);
    }
  }
  return found;
}
