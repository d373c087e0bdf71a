import { z } from 'zod';
import { isSetAside } from '../core/machine/lifecycle.ts';
import type { Settings } from '../core/settings.ts';
import type { Lease } from '../ports/store.ts';
import { underLease } from '../state/leases.ts';
import type { MachineRecord } from '../state/machine-record.ts';
import { applyEvent } from '../state/machine-writes.ts';
import type { RequestDeps, RequestResult } from './power.ts';

/** The maintenance field of a request. */
export const MaintenanceFields = z.strictObject({
  maintenance: z
    .boolean()
    .optional()
    .describe('true: it is in the deps of a person, and never touched; false: it is given back'),
});

export interface RequestContext {
  readonly deps: RequestDeps;
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
 * Changes a machine for a person. A running operation keeps the machine's lease and notices the change.
 * Undefined from the work: the machine changed meanwhile, read it again.
 */
export async function withRequestLease(
  deps: RequestDeps,
  machine: string,
  by: string | undefined,
  work: (context: RequestContext) => Promise<RequestResult | undefined>,
): Promise<RequestResult> {
  const settings = await deps.inventory.settings();
  const asked = await underLease(deps, `hand-${machine}`, leaseTtlMs, { ms: patienceMs }, async (lease) => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const record = await deps.inventory.machine(machine);
      if (!record) return { ok: false, why: `there is no machine called ${machine}` } as const;
      const now = deps.clock.now();
      const result = await work({ deps, record, by: by ?? 'somebody', lease, settings, now });
      if (result) return result;
    }
    return undefined;
  });
  return asked ?? { ok: false, why: `${machine} is being worked on: ask again in a few seconds` };
}

/** Starts or ends maintenance. Stored in the status: the machine's description does not change. */
export const setMaintenance = (
  deps: RequestDeps,
  machine: string,
  on: boolean,
  by: string | undefined,
): Promise<RequestResult> => withRequestLease(deps, machine, by, (context) => maintain(context, on));

async function maintain(
  { deps, record, by, lease, settings, now }: RequestContext,
  on: boolean,
): Promise<RequestResult | undefined> {
  const { name } = record.spec;
  if (on === isSetAside(record))
    return { ok: true, answer: `${name} is ${on ? 'in maintenance already' : 'not in maintenance'}` };
  if (!on && record.input.maintenance)
    return {
      ok: false,
      why: `${name} is described with maintenance: true. Take that out where it is described`,
    };
  const result = await applyEvent(deps.inventory, record, {
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
