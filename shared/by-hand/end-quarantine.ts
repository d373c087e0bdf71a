import { appendHistory } from '../state/append-history.ts';
import { underMachineLease } from '../state/leases.ts';
import type { RequestDeps, RequestResult } from './power.ts';

/** How long to wait for the machine's lease. */
const patienceMs = 5_000;

/**
 * Ends a quarantine after a person fixed the problem: clears the retry time and the hardware log up to now. A
 * problem that persists quarantines the machine again.
 */
export async function endQuarantine(
  deps: RequestDeps,
  machine: string,
  by = 'somebody',
): Promise<RequestResult> {
  const settings = await deps.inventory.settings();
  const asked = await underMachineLease(deps, machine, settings, { ms: patienceMs }, async (lease) => {
    const record = await deps.inventory.machine(machine);
    if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
    const now = deps.clock.now();
    const kept = await appendHistory(deps.inventory, record, {
      event: 'quarantine-lifted',
      by,
      why: `${by} dealt with it`,
      observed: { acknowledgedAt: now, retryAt: undefined },
      lease,
      now,
    });
    return kept
      ? ({ ok: true, answer: `${machine} is looked at anew with the next tick` } as const)
      : ({ ok: false, why: `${machine} was changed by somebody else just now: ask again` } as const);
  });
  return asked ?? { ok: false, why: `${machine} is being worked on: ask again in a few seconds` };
}
