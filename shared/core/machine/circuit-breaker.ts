/** After this many calls in a row without an answer, the BMC is not called for a while. */
export const maxFailures = 3;
/** The longest pause, whatever the BMC asks for. */
const maxPauseMs = 300_000;
/** Refused credentials are not tried again soon: that would lock the account. */
export const refusedPauseMs = 1_800_000;

/** What is remembered of a BMC that does not answer. */
export interface BmcFailures {
  readonly failures: number;
  /** By the caller's clock: not called before. */
  readonly until: number;
  readonly why: string;
}

export interface FailedCall {
  /** It timed out or could not be reached; otherwise it answered, and only asks for a pause. */
  readonly isAway: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly message: string;
}

/** The pause doubles with every failure from the third on. */
export function afterFailure(
  known: BmcFailures | undefined,
  { isAway, retryAfterMs = 0, message }: FailedCall,
  readEveryMs: number,
  now: number,
): BmcFailures {
  const failures = (known?.failures ?? 0) + (isAway ? 1 : 0);
  const growing = failures < maxFailures ? 0 : readEveryMs * 2 ** (failures - maxFailures + 1);
  return { failures, until: now + Math.min(Math.max(growing, retryAfterMs), maxPauseMs), why: message };
}
