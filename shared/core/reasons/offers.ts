import { money, plural, seconds } from '../text.ts';
import type { Coded, TextOf } from './text-of.ts';

interface Slice {
  readonly slice: string;
}

interface OfferFact {
  readonly offer: string;
}

/** Why an offer of a remote cluster is taken or not, and why a slice of one is returned or stays. */
export const offerTexts = {
  'offer-expired': ({ agoMs }: { readonly agoMs: number }) => `it expired ${seconds(agoMs)} ago`,
  'provider-excluded': ({ provider }: { readonly provider: string }) =>
    `its pool excludes provider ${provider}`,
  'region-unknown': () => 'its region is unknown',
  'region-excluded': ({ region }: { readonly region: string }) => `its pool excludes region ${region}`,
  'latency-unknown': () => 'its latency is unknown',
  'latency-too-high': ({ latencyMs, most }: { readonly latencyMs: number; readonly most: number }) =>
    `its latency is ${Math.round(latencyMs)} ms, ${most} ms are allowed`,
  'slice-failed': ({ slice, error }: Slice & { readonly error: string }) =>
    `its slice ${slice} failed: ${error}`,
  'slice-unhealthy': ({ slice, problems }: Slice & { readonly problems: string }) =>
    `its slice ${slice} is unhealthy: ${problems}`,
  'short-grant': ({ slice }: Slice) => `it granted ${slice} less than was requested`,
  'provider-not-ready': ({
    node,
    provider,
  }: {
    readonly node?: string | undefined;
    readonly provider: string;
  }) => `node ${node} of ${provider} is not Ready`,
  'no-pod-within-limits': () => 'what the limits leave of it holds none of the pods',

  'offer-taken': (
    {
      slices,
      price,
      limit,
    }: { readonly slices: readonly string[]; readonly price: number; readonly limit?: Coded | undefined },
    textOf: TextOf,
  ) => `${slices.join(', ')} for ${money(price)} per hour${limit ? `; ${textOf(limit)}` : ''}`,
  'offer-not-chosen': (
    {
      pods,
      needy,
      price,
      because,
    }: { readonly pods: number; readonly needy: number; readonly price: number; readonly because: Coded },
    textOf: TextOf,
  ) => `holds ${pods} of ${needy} ${plural(needy, 'pod')} for ${money(price)} per hour; ${textOf(because)}`,
  'more-expensive': ({ offer }: OfferFact) => `more expensive than ${offer}`,
  'no-better': ({ offer }: OfferFact) => `no better than ${offer}`,
  'own-machines-first': () => 'own machines come first',

  'provider-stopped': ({ problems }: { readonly problems: string }) =>
    `its provider no longer serves it: ${problems}`,
  'offer-gone': ({ offer }: OfferFact) => `its offer ${offer} is no longer listed`,
  'slice-expired': ({ offer, agoMs }: OfferFact & { readonly agoMs: number }) =>
    `its offer ${offer} expired ${seconds(agoMs)} ago`,
  'price-raised': ({
    offer,
    price,
    agreed,
  }: OfferFact & { readonly price: number; readonly agreed: number }) =>
    `its offer ${offer} costs ${money(price)} per hour now, ${money(agreed)} were agreed`,
  'over-hourly-cost': ({
    pool,
    cost,
    most,
  }: {
    readonly pool?: string | undefined;
    readonly cost: number;
    readonly most: number;
  }) =>
    `${pool === undefined ? 'the cluster' : `pool ${pool}`} costs ${money(cost)} per hour, above its budget of ${money(most)}`,
  'slice-stays': ({ due, because }: { readonly due: Coded; readonly because: Coded }, textOf: TextOf) =>
    `${textOf(due)}; ${textOf(because)}`,
  'slice-returns': (
    { due, pods, also }: { readonly due: Coded; readonly pods: number; readonly also?: Coded | undefined },
    textOf: TextOf,
  ) =>
    `${textOf(due)}${pods > 0 ? `: its ${pods} ${plural(pods, 'pod')} fit elsewhere` : ''}${also ? `, and ${textOf(also)}` : ''}`,
  'nothing-else-holds-pods': () => 'nothing else can hold its pods: it stays until something can',
};
