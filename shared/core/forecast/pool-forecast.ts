/** What a pool is expected to need, as of the last sample of its history. */
export interface PoolForecast {
  readonly pool: string;
  /** Machines that are needed now. */
  readonly needed: number;
  /** So many are to be on within the lead. */
  readonly atLeast: number;
  /** So many of those that are on stay on. */
  readonly keep: number;
  readonly confidence: number;
  readonly leadMs: number;
  readonly horizonMs: number;
  readonly method: string;
  /** What it was learned from. */
  readonly samples: number;
  /** What each method would have cost: machines idle or missing per step. */
  readonly costs: Readonly<Record<string, number>>;
}
