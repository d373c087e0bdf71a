import { z } from 'zod';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { stepOf } from '../../shared/core/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, forEachOf, onePerMachine } from '../deps.ts';
import { createBmcs } from './bmcs.ts';
import { ByHand, byHand } from './by-hand.ts';
import { carryOut } from './carry-out.ts';
import { InHand, setMaintenance } from './in-hand.ts';
import { liftQuarantine } from './lift.ts';
import { createStrayHunt } from './strays.ts';
import { createSweep } from './sweep.ts';

export const PowerInput = z
  .strictObject({
    machine: z
      .string()
      .min(1)
      .optional()
      .describe('only this one; otherwise every machine that waits for power'),
    ...ByHand.shape,
    ...InHand.shape,
    lift: z
      .boolean()
      .optional()
      .describe('true: somebody has dealt with what was wrong; its quarantine is over unless it still is'),
  })
  .refine(
    ({ machine, power, maintenance, lift }) =>
      (power === undefined && maintenance === undefined && !lift) || machine !== undefined,
    { path: ['machine'], message: 'which machine is meant?' },
  );

/** How many operations are pursued, and how many machines at rest are looked at, at once. */
const atOnce = { operations: 256, looks: 256 };

/** Carries out power operations, verified; and looks at the machines at rest, so that surprises are noticed. */
export function powerAction(deps: Deps): Handler<z.output<typeof PowerInput>> {
  const bmcs = createBmcs(deps);
  const sweep = createSweep(deps, bmcs);
  const huntStrays = createStrayHunt(deps);
  const operate = onePerMachine((machine, signal) => carryOut(deps, machine, signal, bmcs));
  return async ({ machine, power, maintenance, lift, ...how }, { signal }) => {
    if (machine !== undefined && lift) {
      const lifted = await liftQuarantine(deps, machine, how.by);
      sweep.lookSoon(machine);
      return lifted.ok ? done(lifted) : rejected(lifted.why);
    }
    if (machine !== undefined && power !== undefined) {
      const asked = await byHand(deps, machine, { power, ...how });
      return asked.ok ? done(asked) : rejected(asked.why);
    }
    if (machine !== undefined && maintenance !== undefined) {
      const asked = await setMaintenance(deps, machine, maintenance, how.by);
      return asked.ok ? done(asked) : rejected(asked.why);
    }
    const records =
      machine === undefined ? await deps.inventory.machines() : [await deps.inventory.machine(machine)];
    const known = records.filter((record) => record !== undefined);
    if (known.length < records.length) return rejected(`there is no machine called ${machine}`);
    const settings = await deps.inventory.settings();
    const isWaiting = (record: MachineRecord): boolean =>
      stepOf(record) === 'power-action' && record.status.operation !== undefined;
    const results: Record<string, string> = {};
    const resting = known.filter((record) => !isWaiting(record) && sweep.isDue(record, settings));
    if (machine === undefined) sweep.keepOnly(new Set(known.map(({ spec }) => spec.name)));
    await Promise.all([
      forEachOf(known.filter(isWaiting), atOnce.operations, async ({ spec }) => {
        results[spec.name] = await operate(spec.name, signal);
      }),
      forEachOf(resting, atOnce.looks, async (record) => {
        if (!signal.aborted) results[record.spec.name] = await sweep(record, settings, signal);
      }),
      machine === undefined && deps.inventory.pools().then((pools) => huntStrays(pools, signal)),
    ]);
    return done({ machines: results });
  };
}
