import type { PowerError } from '../../shared/ports/power.ts';
import type { PowerResult } from './read-power.ts';
import { type Attempt, withErrorLog } from './send.ts';

/** Made on demand, off, and not known to be deleted. */
export const isReturnable = ({ operation }: Attempt, { power, reading, releasable }: PowerResult): boolean =>
  operation.operation.spec.made === true &&
  operation.operation.goal === 'off' &&
  power === 'off' &&
  releasable === true &&
  reading?.exists !== false;

/**
 * Returns the machine to its provider. The next read verifies that it is gone. Returns an error that retries
 * cannot fix.
 */
export async function returnMachine(attempt: Attempt, until: number): Promise<PowerError | undefined> {
  const { deps, signal, lease, settings } = attempt;
  if (lease.remainingMs() <= settings.timings.bmcTimeoutMs) return undefined;
  deps.failpoint('power-before-release');
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, until - deps.clock.now()))]);
  const failed = await withErrorLog(attempt, 'release', async () => {
    await (await attempt.driver()).release?.(inTime);
  });
  deps.failpoint('power-after-release');
  return failed?.final ? failed : undefined;
}
