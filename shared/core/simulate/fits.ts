import type { Reason } from '../reasons/reason.ts';
import { countIn } from './counter.ts';
import { askHolds, askMisfit, type NodeClass } from './node-filter.ts';
import type { AffinityNeed, PodKind } from './pod-class.ts';
import { wishFor, wishForCompany } from './preferences.ts';
import { skewWith, spreadRoom } from './spread.ts';
import type { Place, World } from './state.ts';
import { isOwn } from './topology.ts';

/**
 * What a place says to one more pod. The answers tell how far a refusal reaches: a search for a place need not ask
 * again where the answer would be the same.
 */
export const answers = {
  yes: 0,
  /** Not enough room, or it takes no pods at all. */
  full: 1,
  /** A pod on this very node refuses it: more pods do not change that. */
  refusedByPod: 2,
  /** This very node has too many of its pods, compared with others. */
  unevenHere: 3,
  /** The same is true of every place of its class in the same domains. */
  refusedAround: 4,
  /** The pods it must be near are not on this node, or not in this domain. */
  lonelyHere: 5,
  lonelyAround: 6,
} as const;

/** Whether kube-scheduler could put one more such pod there, and if not, why not. The hot path: nothing is allocated. */
export function answerOf(world: World, kind: PodKind, place: Place): number {
  const { index } = place;
  if (world.closed[index] !== 0) return answers.full;
  const { columns, amounts } = kind;
  const row = index * world.width;
  for (let i = 0; i < columns.length; i++)
    if ((world.free[row + (columns[i] as number)] as number) < (amounts[i] as number)) return answers.full;
  return answerByRules(world, kind, index);
}

/** The same, whatever room there is. */
export function answerByRules(world: World, kind: PodKind, index: number): number {
  if (kind.impossible !== undefined) return answers.refusedAround;
  const { blockers, affinity, spread } = kind;
  const nodeClass = world.classOf[index] as NodeClass;
  const memo = kind.ask.answers;
  const known = nodeClass.id < memo.length ? memo[nodeClass.id] : 0;
  if (known === 2 || (known === 0 && !askHolds(kind.ask, nodeClass))) return answers.refusedAround;
  const domains = index * world.keys;
  for (let i = 0; i < blockers.length; i++) {
    const counter = (blockers[i] as (typeof blockers)[number]).counter;
    const domain = world.domains[domains + counter.key] as number;
    if (domain >= 0 && countIn(counter, domain) > 0)
      return isOwn(world, counter.key) ? answers.refusedByPod : answers.refusedAround;
  }
  if (affinity !== undefined && !hasCompany(world, affinity, domains))
    return affinity.set.counters.every(({ key }) => !isOwn(world, key))
      ? answers.lonelyAround
      : answers.lonelyHere;
  for (let i = 0; i < spread.length; i++) {
    const need = spread[i] as (typeof spread)[number];
    const { key } = need.group.counter;
    const domain = world.domains[domains + key] as number;
    if (domain < 0 || skewWith(need, domain) > need.maxSkew)
      return isOwn(world, key) ? answers.unevenHere : answers.refusedAround;
  }
  return answers.yes;
}

export const fits = (world: World, kind: PodKind, place: Place): boolean =>
  answerOf(world, kind, place) === answers.yes;

function hasCompany(world: World, { set, self }: AffinityNeed, row: number): boolean {
  let found = true;
  let anywhere = false;
  for (let i = 0; i < set.counters.length; i++) {
    const counter = set.counters[i] as (typeof set.counters)[number];
    const domain = world.domains[row + counter.key] as number;
    if (domain < 0) return false;
    if (countIn(counter, domain) <= 0) found = false;
    if (counter.total > 0) anywhere = true;
  }
  return found || (self && !anywhere);
}

/** The same judgement as a reason; undefined exactly when it fits. */
export function misfit(world: World, kind: PodKind, place: Place): Reason | undefined {
  const { index } = place;
  if (world.closed[index] !== 0) return place.shut ?? { code: 'being-drained' };
  if (kind.impossible !== undefined) return kind.impossible;
  const static_ = askMisfit(kind.ask, world.classOf[index] as NodeClass);
  if (static_ !== undefined) return static_;
  return shortOf(world, kind, index) ?? badCompany(world, kind, index) ?? uneven(world, kind, index);
}

function shortOf(world: World, { columns, amounts }: PodKind, index: number): Reason | undefined {
  const names = [...world.columns.keys()];
  for (let i = 0; i < columns.length; i++) {
    const name = names[columns[i] as number] ?? '';
    const free = world.free[index * world.width + (columns[i] as number)] as number;
    const wanted = amounts[i] as number;
    if (free < wanted) return { code: 'no-room', resource: name, needed: wanted, free: Math.max(0, free) };
  }
  return undefined;
}

function badCompany(world: World, kind: PodKind, index: number): Reason | undefined {
  const row = index * world.keys;
  for (const { counter, why } of kind.blockers) {
    const domain = world.domains[row + counter.key] as number;
    if (domain >= 0 && countIn(counter, domain) > 0) return why(world.topology.keys[counter.key] ?? '');
  }
  return kind.affinity && !hasCompany(world, kind.affinity, row) ? kind.affinity.why : undefined;
}

function uneven(world: World, kind: PodKind, index: number): Reason | undefined {
  for (const need of kind.spread) {
    const { key } = need.group.counter;
    const domain = world.domains[index * world.keys + key] as number;
    const name = world.topology.keys[key] ?? '';
    if (domain < 0) return { code: 'spread-label-missing', key: name };
    const skew = skewWith(need, domain);
    if (skew > need.maxSkew) return { code: 'spread-skew', skew, key: name, maxSkew: need.maxSkew };
  }
  return undefined;
}

/** How many of `wanted` such pods could be put there one after the other, without putting them. */
export function howMany(world: World, kind: PodKind, place: Place, wanted: number): number {
  if (wanted <= 0 || !fits(world, kind, place)) return 0;
  const { columns, amounts, blockers, feeds, spread, spreadFeeds } = kind;
  const { index } = place;
  let room = wanted;
  for (let i = 0; i < columns.length; i++) {
    const free = world.free[index * world.width + (columns[i] as number)] as number;
    room = Math.min(room, Math.floor(free / (amounts[i] as number)));
  }
  const row = index * world.keys;
  // It minds its own kind: the second finds the first.
  for (const { counter } of blockers)
    if (room > 1 && (world.domains[row + counter.key] as number) >= 0 && feeds.includes(counter)) room = 1;
  for (const need of spread)
    if (spreadFeeds.includes(need.group))
      room = Math.min(room, spreadRoom(need, index, world.domains[row + need.group.counter.key] as number));
  return room;
}

/** More is better. Compares places for one kind; it never keeps a pod from any. */
export function preference(world: World, { wishes }: PodKind, place: Place): number {
  const score = wishFor(wishes, world.classOf[place.index] as NodeClass);
  return wishes.pods.length === 0
    ? score
    : score + wishForCompany(wishes, world.domains, place.index * world.keys);
}
