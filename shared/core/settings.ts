/** How patient we are with machines. All in milliseconds, all configurable, with these defaults. */
export interface Timings {
  /** A BMC call that has not answered by then is unknown, never a success. */
  readonly bmcTimeoutMs: number;
  /** How often the BMC is read while a power change is awaited. */
  readonly readEveryMs: number;
  /** How often the BMC of a machine at rest is read. */
  readonly sweepEveryMs: number;
  /** A command that changed nothing is sent again after this. */
  readonly resendAfterMs: number;
  /** A soft off that changed nothing becomes a hard off after this. */
  readonly softOffPatienceMs: number;
  readonly powerOnTimeoutMs: number;
  readonly powerOffTimeoutMs: number;
  /** No learned boot time makes the join deadline shorter than this. */
  readonly shortestJoinTimeoutMs: number;
  /** A failed machine is left alone for this long, doubled with every failure in a row up to the maximum. */
  readonly retryAfterMs: number;
  readonly retryAfterMaxMs: number;
  /** How often pods that refuse to leave are asked again. */
  readonly evictEveryMs: number;
}

export const defaultTimings: Timings = {
  bmcTimeoutMs: 10_000,
  readEveryMs: 2_000,
  sweepEveryMs: 60_000,
  resendAfterMs: 30_000,
  softOffPatienceMs: 180_000,
  powerOnTimeoutMs: 300_000,
  powerOffTimeoutMs: 600_000,
  shortestJoinTimeoutMs: 120_000,
  retryAfterMs: 300_000,
  retryAfterMaxMs: 3_600_000,
  evictEveryMs: 5_000,
};

/** Consecutive equal reads that make a power state a fact. */
export const stableReads = 2;

export interface PoolSpec {
  readonly name: string;
  /** 0 = unbounded, for maxNodes. */
  readonly limits: { readonly minNodes: number; readonly maxNodes: number };
  readonly scaleDown: { readonly unneededForMs: number; readonly drainTimeoutMs: number };
  /** How long a machine that is on may take to become a Ready node, until its own boot time is known. */
  readonly provisionTimeoutMs: number;
}

/** What is configured for all pools together. */
export interface Settings {
  /** Machine or node names, or labels as key or key=value, that are never powered off. */
  readonly protect: readonly string[];
  readonly dryRun: boolean;
  /** A machine that is used less than this (0 to 1, of cpu or memory, whichever is more) may be emptied. */
  readonly scaleDownThreshold: number;
  readonly timings: Timings;
}
