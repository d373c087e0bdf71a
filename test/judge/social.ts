import type { Requirement } from '../../shared/core/cluster/cluster.ts';
import type { SpreadGroup, Tally } from './facts/tally.ts';

/** What a pod's rules say about other pods. */
export interface Social {
  /** A pod counted in one of these, in the same domain, keeps this one away. */
  readonly blockers: readonly Tally[];
  /** Where this pod is counted. */
  readonly feeds: readonly Tally[];
  readonly affinity: Affinity | undefined;
  readonly spread: readonly SpreadNeed[];
  readonly spreadFeeds: readonly SpreadGroup[];
}

export interface Affinity {
  readonly selections: readonly Selection[];
  /** One per term; pods that all terms select are counted. */
  readonly tallies: readonly Tally[];
  /** The pod itself is one that its terms select. */
  readonly self: boolean;
}

export interface SpreadNeed {
  readonly group: SpreadGroup;
  readonly selection: Selection;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly self: number;
}

/** Pods that a rule is about. */
export interface Selection {
  readonly id: number;
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly selector: readonly Requirement[] | undefined;
  readonly selected: Map<number, Tally>;
  /** Pods that have an anti-affinity to those selected. */
  readonly refusers: Map<number, Tally>;
  readonly spreads: Set<SpreadGroup>;
  readonly affinities: Set<Affinity>;
}
