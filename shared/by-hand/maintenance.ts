import { z } from 'zod';
import { underLease } from '../../functions/deps.ts';
import { isSetAside } from '../core/machine/lifecycle.ts';
import type { Settings } from '../core/settings.ts';
import type { Lease } from '../ports/store.ts';
import type { MachineRecord } from '../state/inventory.ts';
import { happen } from '../state/machine-writes.ts';
import type { Asked, Hands } from './power.ts';

/** What a person may do about a machine besides its power. */
export const InHand = z.strictObject({
  maintenance: z
    .boolean()
    .optional()
    .describe('true: it is in the hands of a person, and never touched; false: it is given back'),
});

export interface Handled {
  readonly hands: Hands;
  readonly record: MachineRecord;
  readonly by: string;
  readonly lease: Lease;
  readonly settings: Settings;
  readonly now: number;
}

const leaseTtlMs = 10_000;
const patienceMs = 5_000;
const mostTries = 5;

/**
 * Changes a machine for a person. Whoever works on it keeps its lease and notices, as when a decision calls a drain
 * off; undefined from the work: it was changed meanwhile, look again.
 */
export async function underHand(
  hands: Hands,
  machine: string,
  by: string | undefined,
  work: (handled: Handled) => Promise<Asked | undefined>,
): Promise<Asked> {
  const settings = await hands.inventory.settings();
  const asked = await underLease(hands, `hand-${machine}`, leaseTtlMs, { ms: patienceMs }, async (lease) => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const record = await hands.inventory.machine(machine);
      if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
      const now = hands.clock.now();
      const result = await work({ hands, record, by: by ?? 'somebody', lease, settings, now });
      if (result) return result;
    }
    return undefined;
  });
  return asked ?? { ok: false, why: `${machine} is being worked on: ask again in a few seconds` };
}

/** Takes it in hand, or gives it back. Kept with its status: what describes the machine need not say it. */
export const setMaintenance = (
  hands: Hands,
  machine: string,
  on: boolean,
  by: string | undefined,
): Promise<Asked> => underHand(hands, machine, by, (handled) => maintain(handled, on));

async function maintain(
  { hands, record, by, lease, settings, now }: Handled,
  on: boolean,
): Promise<Asked | undefined> {
  const { name } = record.spec;
  if (on === isSetAside(record))
    return { ok: true, answer: `${name} is ${on ? 'in maintenance already' : 'not in maintenance'}` };
  if (!on && record.input.maintenance)
    return {
      ok: false,
      why: `${name} is described with maintenance: true. Take that out where it is described`,
    };
  const result = await happen(hands.inventory, record, {
    event: { type: on ? 'maintenance-began' : 'maintenance-ended' },
    by,
    why: on ? `${by} took it in hand` : `${by} gave it back`,
    observed: { setAside: on ? { by, at: now } : undefined },
    lease,
    settings,
    now,
  });
  if (result.kind === 'conflict') return undefined;
  if (result.kind === 'refused')
    return {
      ok: false,
      why: `${name} is ${record.status.state}: ${result.why}. Ask again once that is over`,
    };
  return { ok: true, answer: on ? `${name} is in maintenance` : `${name} is back in service` };
}
