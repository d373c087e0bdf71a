import { refusedPauseMs } from '../machine/circuit-breaker.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Timings } from '../settings.ts';

/** Why a provider makes no machines. */
export interface ProviderProblem {
  /** Of the PowerError. */
  readonly code: string;
  readonly message: string;
  readonly since: number;
  /** Not tried again before, unless the pool's description or the Secret changes. */
  readonly until: number;
  /** In a row. */
  readonly failures: number;
}

/** What is known of the provider that makes a pool's machines on demand. */
export interface ProviderState {
  readonly pool: string;
  /** Options, credentials and access were checked, for the pool's current description. */
  readonly checked: boolean;
  readonly problem?: ProviderProblem | undefined;
}

/** Who must fix it, and where: the provider itself, or the description on our side. */
const final: ReadonlySet<string> = new Set(['auth', 'denied', 'config', 'wrong-machine']);

/** After a check that failed: a mistake in the description costs no call, so it is looked for at every tick. */
export function pauseAfterCheck(code: string, failures: number, { sweepEveryMs }: Timings): number {
  if (code === 'config') return 0;
  return final.has(code) ? refusedPauseMs : Math.min(sweepEveryMs * 2 ** (failures - 1), refusedPauseMs);
}

/** After a machine that was not made. */
export function pauseAfterMaking(code: string, failures: number, timings: Timings): number {
  const growing = Math.min(timings.retryAfterMs * 2 ** (failures - 1), timings.retryAfterMaxMs);
  return final.has(code) ? Math.max(refusedPauseMs, growing) : growing;
}

/** How many machines a provider may be making at once, where that is limited by what is known of it. */
export function providerLimit(
  { pool, checked, problem }: ProviderState,
  now: number,
): { readonly most: number; readonly why: Reason } | undefined {
  if (!problem) return checked ? undefined : { most: 0, why: { code: 'provider-unchecked', pool } };
  const { message: error, until } = problem;
  if (!checked || until > now)
    return {
      most: 0,
      why: { code: 'provider-backed-off', pool, error, forMs: checked ? until - now : undefined },
    };
  return { most: 1, why: { code: 'provider-on-trial', pool, error } };
}
