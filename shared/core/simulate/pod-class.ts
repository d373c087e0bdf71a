import type { Labels, Pod } from '../cluster/cluster.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Counter } from './counter.ts';
import type { Ask } from './node-filter.ts';
import type { AffinitySet } from './pod-terms.ts';
import type { Wishes } from './preferences.ts';
import type { SpreadGroup, SpreadNeed } from './spread.ts';

/** Pods that every place judges alike, and that make the same difference to others. */
export interface PodKind {
  readonly id: number;
  /** One of them. */
  readonly example: Pod;
  readonly requests: Resources;
  /** Equal for kinds with the same requests. */
  readonly size: number;
  /** Equal for kinds that differ in nothing but their requests and priority. */
  readonly family: number;
  readonly priority: number;
  /** What decides where it runs and is not judged here, in a few words each. */
  readonly unmodelled: readonly string[];
  /** Why no place whatever will do: a gate, a claim that is not bound. */
  readonly impossible: Reason | undefined;

  readonly namespace: string;
  /** As far as anybody asks. */
  readonly labels: Labels;
  /** Column of every resource it takes, and how much, a pod slot among them. */
  readonly columns: Int32Array;
  readonly amounts: Float64Array;
  readonly ask: Ask;
  /** It may not come to a domain where any of these is above zero. */
  readonly blockers: readonly Blocker[];
  readonly affinity: AffinityNeed | undefined;
  readonly spread: readonly SpreadNeed[];
  readonly wishes: Wishes;
  /** What counts it. */
  readonly feeds: readonly Counter[];
  readonly spreadFeeds: readonly SpreadGroup[];
}

/** Whether its rules are about other pods: what is put elsewhere may change where it may go. */
export const looksAround = ({ blockers, affinity, spread }: PodKind): boolean =>
  blockers.length > 0 || affinity !== undefined || spread.length > 0;

export interface Blocker {
  readonly counter: Counter;
  /** Why it may not come, given the name of the domain's key. */
  readonly why: (within: string) => Reason;
}

export interface AffinityNeed {
  readonly set: AffinitySet;
  /** It is one of the pods it wants to be near: the first of them may go anywhere. */
  readonly self: boolean;
  readonly why: Reason;
}
