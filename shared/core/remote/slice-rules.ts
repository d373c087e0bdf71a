import { nodeOfMachine, type Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { OfferRules } from '../settings.ts';
import { byText, seconds } from '../text.ts';
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

/** Amounts of money for people: no more digits than mean something. */
export const money = (amount: number): string => String(Number(amount.toPrecision(4)));

/** Why the pool does not take the offer, or nothing. */
export function whyNotTaken(
  { provider, region, validUntil, latencyMs }: Offer,
  { providers, regions = [], onlyRegions, maxLatencyMs }: OfferRules,
  now: number,
): string | undefined {
  if (validUntil <= now) return `it expired ${seconds(now - validUntil)} ago`;
  if (providers && !providers.includes(provider)) return `its pool takes none of ${provider}`;
  if (onlyRegions && !regions.includes(region ?? ''))
    return region === undefined ? 'its region is not known' : `its pool takes none of region ${region}`;
  if (maxLatencyMs !== undefined && (latencyMs ?? Number.POSITIVE_INFINITY) > maxLatencyMs)
    return latencyMs === undefined
      ? 'how fast it answers is not known'
      : `it answers in ${Math.round(latencyMs)} ms, ${maxLatencyMs} ms are allowed`;
  return undefined;
}

/**
 * Offers that a slice in trouble speaks against, and why: one that failed, is not served well or got less than was
 * asked for tells about its offer, one whose node is silent about all of its provider.
 */
export function troubles(situation: Situation): (offer: Offer) => string | undefined {
  const { now, settings } = situation;
  const ofOffer = new Map<string, string>();
  const ofProvider = new Map<string, string>();
  for (const machine of situation.machines) {
    const { spec, status, metrics } = machine;
    if (spec.offer === undefined) continue;
    if (capacityOf(machine) === 'none' && status.lastError)
      ofOffer.set(spec.offer, `its slice ${spec.name} failed: ${status.lastError.message}`);
    else if (
      capacityOf(machine) !== 'none' &&
      (metrics.health === 'critical' || metrics.health === 'warning')
    )
      ofOffer.set(spec.offer, `its slice ${spec.name} is not well: ${problemsOf(machine)}`);
    else if (status.shortGrantAt !== undefined && now - status.shortGrantAt < settings.timings.retryAfterMs)
      ofOffer.set(spec.offer, `it gave ${spec.name} less than was asked for`);
    const provider = spec.labels?.[providerLabel];
    if (provider !== undefined && isSilent(situation, machine))
      ofProvider.set(provider, `node ${status.kubernetesNode} of ${provider} is not Ready`);
  }
  return ({ id, provider }) => ofOffer.get(id) ?? ofProvider.get(provider);
}

const problemsOf = ({ metrics }: Machine): string => metrics.problems?.join(', ') || (metrics.health ?? '');

const isSilent = (situation: Situation, machine: Machine): boolean =>
  capacityOf(machine) === 'serving' && nodeOfMachine(situation, machine)?.ready !== true;

/** Why a slice should be returned, although pods may need it. */
export interface Withdrawal {
  readonly why: string;
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
    return { why: `its provider no longer serves it: ${problemsOf(machine)}` };
  const offer = offers.get(spec.offer ?? '');
  if (!offer) return { why: `its offer ${spec.offer} is no longer listed` };
  if (offer.validUntil <= now)
    return { why: `its offer ${offer.id} expired ${seconds(now - offer.validUntil)} ago` };
  const agreed = spec.pricing?.hourlyRate ?? 0;
  const price = hourlyPrice(offer.price, spec.resources);
  return price > agreed * (1 + 1e-9)
    ? { why: `its offer ${offer.id} costs ${money(price)} per hour now, ${money(agreed)} were agreed`, price }
    : undefined;
}

interface Scope {
  readonly who: string;
  readonly most: number;
  readonly of: readonly Machine[];
}

/** Whose costs are limited, and what counts. */
const budgetsOf = ({ machines, members, pools, settings }: Situation): Scope[] =>
  [
    ...pools.map(({ name, limits }) => ({
      who: `pool ${name}`,
      most: limits.hourlyCost ?? 0,
      of: members.get(name) ?? [],
    })),
    { who: 'the cluster', most: settings.limits.hourlyCost ?? 0, of: machines },
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
export function overBudget(situation: Situation): ReadonlyMap<string, string> {
  const offers = offersById(situation);
  const found = new Map<string, string>();
  for (const { who, most, of } of budgetsOf(situation)) {
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
      found.set(
        machine.spec.name,
        `${who} costs ${money(cost)} per hour, above its budget of ${money(most)}`,
      );
      cost -= rateOf(machine, offers);
    }
  }
  return found;
}
