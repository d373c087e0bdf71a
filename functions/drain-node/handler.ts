import { z } from 'zod';
import { stepOf } from '../../shared/core/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, forEachOf, onePerMachine } from '../deps.ts';
import { drain } from './drain.ts';

export const DrainInput = z.strictObject({
  machine: z
    .string()
    .min(1)
    .optional()
    .describe('only this one; otherwise every machine that is to be drained'),
});

/** Empties nodes before their machines are powered off; gives up rather than lose a pod. */
export function drainNode(deps: Deps): Handler<z.output<typeof DrainInput>> {
  const drainOne = onePerMachine((machine, signal) => drain(deps, machine, signal));
  return async ({ machine }, { signal }) => {
    const records = await deps.inventory.machines();
    if (machine !== undefined && !records.some(({ spec }) => spec.name === machine))
      return rejected(`there is no machine called ${machine}`);
    const results: Record<string, string> = {};
    await forEachOf(
      records.filter(
        (record) =>
          stepOf(record) === 'drain-node' && (machine === undefined || record.spec.name === machine),
      ),
      8,
      async ({ spec }) => {
        results[spec.name] = await drainOne(spec.name, signal);
      },
    );
    return done({ machines: results });
  };
}
