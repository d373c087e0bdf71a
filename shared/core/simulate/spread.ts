import { grown } from './arrays.ts';
import { type Counter, count, countIn, createCounter } from './counter.ts';
import type { Tolerance, Where } from './node-filter.ts';
import type { PodSelector } from './pod-terms.ts';

/** Which places a spread rule looks at: those that have all its labels and that its pods may go to. */
export interface Eligibility {
  readonly key: number;
  /** All topology keys of the pod's rules: a place must have every one. */
  readonly keys: readonly number[];
  readonly where: Where | undefined;
  readonly tolerance: Tolerance | undefined;
  members: Uint8Array;
  placesIn: Int32Array;
  /** How many domains have such a place. */
  domains: number;
}

/** Pods of one selector over the domains of an eligibility, with the least of them at hand. */
export interface SpreadGroup {
  readonly eligibility: Eligibility;
  readonly counter: Counter;
  /** How many domains have exactly so many pods, from one pod on. */
  readonly domainsWith: number[];
  /** Domains with any pod. */
  inhabited: number;
  /** The least count of those. */
  low: number;
}

/** What one pod's rule asks of a group. */
export interface SpreadNeed {
  readonly selector: PodSelector;
  readonly group: SpreadGroup;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 when the pod is counted itself. */
  readonly self: number;
}

export const createGroup = (eligibility: Eligibility): SpreadGroup => ({
  eligibility,
  counter: createCounter(eligibility.key),
  domainsWith: [],
  inhabited: 0,
  low: 1,
});

export function admit(eligibility: Eligibility, place: number, domain: number): void {
  eligibility.members = grown(eligibility.members, place + 1);
  eligibility.placesIn = grown(eligibility.placesIn, domain + 1);
  eligibility.members[place] = 1;
  const places = (eligibility.placesIn[domain] as number) + 1;
  eligibility.placesIn[domain] = places;
  if (places === 1) eligibility.domains += 1;
}

export function dismiss(eligibility: Eligibility, place: number, domain: number): void {
  if (!isMember(eligibility, place)) return;
  eligibility.members[place] = 0;
  const places = (eligibility.placesIn[domain] as number) - 1;
  eligibility.placesIn[domain] = places;
  if (places === 0) eligibility.domains -= 1;
}

export const isMember = ({ members }: Eligibility, place: number): boolean =>
  place < members.length && members[place] === 1;

export function countSpread(group: SpreadGroup, domain: number, pods: number): void {
  const before = countIn(group.counter, domain);
  const after = before + pods;
  count(group.counter, domain, pods);
  const { domainsWith } = group;
  if (before > 0) domainsWith[before] = (domainsWith[before] ?? 0) - 1;
  else group.inhabited += 1;
  if (after > 0) domainsWith[after] = (domainsWith[after] ?? 0) + 1;
  else group.inhabited -= 1;
  if (after > 0 && after < group.low) group.low = after;
  if (group.inhabited === 0) group.low = 1;
  else while (!domainsWith[group.low]) group.low += 1;
}

/** The least count over all domains, as far as the rule's minDomains lets it count. */
export function least({ group, minDomains }: SpreadNeed): number {
  const { domains } = group.eligibility;
  if (minDomains > domains) return 0;
  if (domains === 0) return Number.POSITIVE_INFINITY;
  return domains > group.inhabited ? 0 : group.low;
}

/** How uneven it would be with one more pod in the domain. */
export const skewWith = (need: SpreadNeed, domain: number): number =>
  countIn(need.group.counter, domain) + need.self - least(need);

/** How many such pods may come to the domain one after the other, given that one may. */
export function spreadRoom(need: SpreadNeed, place: number, domain: number): number {
  if (need.self === 0 || !isMember(need.group.eligibility, place)) return Number.POSITIVE_INFINITY;
  return leastElsewhere(need, domain) + need.maxSkew - countIn(need.group.counter, domain);
}

function leastElsewhere({ group, minDomains }: SpreadNeed, domain: number): number {
  const { domains } = group.eligibility;
  if (minDomains > domains) return 0;
  const here = countIn(group.counter, domain);
  if (domains - group.inhabited - (here === 0 ? 1 : 0) > 0) return 0;
  if (here !== group.low || (group.domainsWith[here] ?? 0) > 1)
    return group.inhabited > 0 ? group.low : Number.POSITIVE_INFINITY;
  for (let pods = here + 1; pods < group.domainsWith.length; pods++) if (group.domainsWith[pods]) return pods;
  return Number.POSITIVE_INFINITY;
}
