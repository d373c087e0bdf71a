/** What a policy did with a history. Times in milliseconds, summed over machines. */
export interface Result {
  /** The time that was counted. */
  readonly forMs: number;
  readonly steps: number;
  /** Powered, booting included. */
  readonly onMs: number;
  readonly busyMs: number;
  /** Needed and not there yet. */
  readonly missingMs: number;
  readonly wakeUps: number;
  /** Steps with a power-on in them. */
  readonly wakeUpSteps: number;
  /** Steps that began with fewer machines on than needed. */
  readonly shortSteps: number;
  /** Powered machines at the beginning of each step, when asked for. */
  readonly on?: readonly number[] | undefined;
}
