/** What is to be done, written to the store before anything is. */
export interface Intent {
  readonly kind: 'power-on' | 'drain';
  readonly machine: string;
  readonly why: string;
}

/** Every machine that was looked at, and what became of it. */
export interface Candidate {
  readonly machine: string;
  readonly verdict: 'power-on' | 'drain' | 'rejected' | 'kept';
  readonly why: string;
  readonly watts?: number | undefined;
}

export interface DemandGroup {
  readonly pods: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly example: string;
}

export interface Unmet {
  readonly pod: string;
  readonly why: string;
}

/** What an evaluation saw, chose and rejected, and why. */
export interface DecisionRecord {
  readonly at: number;
  readonly summary: string;
  readonly demand: readonly DemandGroup[];
  readonly candidates: readonly Candidate[];
  readonly unmet: readonly Unmet[];
  readonly intents: readonly Intent[];
}

export interface Decision {
  readonly intents: readonly Intent[];
  readonly record: DecisionRecord;
  /** Since when each serving machine has been idle, where that changed: remembered between evaluations. */
  readonly idle: readonly { readonly machine: string; readonly idleSince: number | undefined }[];
}
