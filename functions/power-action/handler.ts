import { z } from 'zod';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { stepOf } from '../../shared/core/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, forEachOf, onePerMachine } from '../deps.ts';
import { carryOut } from './carry-out.ts';
import { createSweep } from './sweep.ts';

export const PowerInput = z.strictObject({
  machine: z
    .string()
    .min(1)
    .optional()
    .describe('only this one; otherwise every machine that waits for power'),
});

/** How many BMCs are talked to at once. */
const atOnce = 32;

/** Carries out power operations, verified; and looks at the machines at rest, so that surprises are noticed. */
export function powerAction(deps: Deps): Handler<z.output<typeof PowerInput>> {
  const sweep = createSweep(deps);
  const operate = onePerMachine((machine, signal) => carryOut(deps, machine, signal));
  return async ({ machine }, { signal }) => {
    const records =
      machine === undefined ? await deps.inventory.machines() : [await deps.inventory.machine(machine)];
    const known = records.filter((record) => record !== undefined);
    if (known.length < records.length) return rejected(`there is no machine called ${machine}`);
    const isWaiting = (record: MachineRecord): boolean =>
      stepOf(record) === 'power-action' && record.status.operation !== undefined;
    const results: Record<string, string> = {};
    await Promise.all([
      forEachOf(known.filter(isWaiting), atOnce, async ({ spec }) => {
        results[spec.name] = await operate(spec.name, signal);
      }),
      forEachOf(
        known.filter((record) => !isWaiting(record)),
        atOnce,
        async (record) => {
          results[record.spec.name] = await sweep(record, signal);
        },
      ),
    ]);
    return done({ machines: results });
  };
}
