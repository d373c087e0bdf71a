import { underMachineLease } from '../../functions/deps.ts';
import { note } from '../state/append-history.ts';
import type { Asked, Hands } from './power.ts';

/** How long to wait for whoever is at the machine. */
const patienceMs = 5_000;

/**
 * A person has dealt with what was wrong: the machine is looked at anew, without its time in quarantine and without
 * what its hardware log said until now. What is still wrong quarantines it again.
 */
export async function liftQuarantine(hands: Hands, machine: string, by = 'somebody'): Promise<Asked> {
  const settings = await hands.inventory.settings();
  const asked = await underMachineLease(hands, machine, settings, { ms: patienceMs }, async (lease) => {
    const record = await hands.inventory.machine(machine);
    if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
    const now = hands.clock.now();
    const kept = await note(hands.inventory, record, {
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
