import { z } from 'zod';
import { stepOf } from '../../shared/core/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, forEachOf } from '../deps.ts';
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
  return async ({ machine }, { signal }) => {
    if (machine !== undefined) {
      const record = await deps.inventory.machine(machine);
      if (!record) return rejected(`there is no machine called ${machine}`);
      return done({ machine, result: await carryOut(deps, machine, signal) });
    }
    const records = await deps.inventory.machines();
    const results: Record<string, string> = {};
    await forEachOf(records, atOnce, async (record) => {
      const { name } = record.spec;
      results[name] =
        stepOf(record) === 'power-action' && record.status.operation
          ? await carryOut(deps, name, signal)
          : await sweep(record, signal);
    });
    return done({ machines: results });
  };
}
