import type { Explained, Reason } from '../reasons/reason.ts';

/** An intent, stored before it is carried out. */
export interface Intent extends Explained {
  readonly kind: 'power-on' | 'drain' | 'cancel-drain' | 'resize';
  readonly machine: string;
  /** A machine made on demand, or made larger: its description as people would write it, written with the intent. */
  readonly make?: Readonly<Record<string, unknown>> | undefined;
}

/** A machine that was considered, and the verdict. */
export interface Candidate extends Explained {
  readonly machine: string;
  readonly verdict: Intent['kind'] | 'rejected' | 'kept';
  readonly watts?: number | undefined;
  /** What an hour of it costs, where it is lent; of one that grows, an hour of what is added. */
  readonly price?: number | undefined;
  /** What each policy said of it: less is better. */
  readonly score?: Readonly<Record<string, number>> | undefined;
  /** In large records: so many others fared the same, some of them by name. */
  readonly alike?: { readonly count: number; readonly examples: readonly string[] } | undefined;
}

/** An offer of a remote cluster to a pool, and its use. */
export interface OfferVerdict extends Explained {
  readonly offer: string;
  readonly pool: string;
  readonly verdict: 'power-on' | 'resize' | 'rejected';
  /** How many of the pods that need one a slice of it would hold, and what an hour of that slice would cost. */
  readonly pods?: number | undefined;
  readonly price?: number | undefined;
}

/** Pods that every machine judges alike. */
export interface DemandGroup {
  readonly pods: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly example: string;
  /** How many of them have room on nodes that run or are on their way, and how many on what is powered on now. */
  readonly room: number;
  readonly served: number;
  /** What decides where they run and is not judged here. */
  readonly unmodelled?: readonly string[] | undefined;
}

export interface Unmet extends Explained {
  /** One of them. */
  readonly pod: string;
  readonly pods: number;
  /** Which have, or could make, a machine that could run them were it on and empty; absent: not judged one by one. */
  readonly pools?: readonly string[] | undefined;
}

/** The input of an evaluation, its choices and rejections, with reasons. */
export interface DecisionRecord {
  readonly at: number;
  /** Of all that was known: equal digests, equal decisions. */
  readonly digest: string;
  readonly summary: string;
  readonly demand: readonly DemandGroup[];
  /** What asked for machines beside pods: minimums, schedules, triggers, pressure, headroom. */
  readonly wants: readonly string[];
  readonly candidates: readonly Candidate[];
  /** Absent where no pool takes any. */
  readonly offers?: readonly OfferVerdict[] | undefined;
  /** Limits that kept something from being done. */
  readonly limits: readonly string[];
  readonly unmet: readonly Unmet[];
  /** Remarks: ignored input, and work of other components. */
  readonly notes: readonly string[];
  /** The same with their codes and facts; absent from records of before there were any. */
  readonly reasons?: Readonly<Record<'wants' | 'limits' | 'notes', readonly Reason[]>> | undefined;
  readonly intents: readonly Intent[];
}

export interface Decision {
  readonly intents: readonly Intent[];
  readonly record: DecisionRecord;
  /** Every machine by itself; the record tells those alike together. */
  readonly candidates: readonly Candidate[];
  /** Since when each serving machine has been idle, where that changed: remembered between evaluations. */
  readonly idle: readonly { readonly machine: string; readonly idleSince: number | undefined }[];
}
