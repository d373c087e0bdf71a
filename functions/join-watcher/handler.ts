import { z } from 'zod';
import { matchNode } from '../../shared/core/match.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, forEachOf } from '../deps.ts';
import { watchOne } from './watch-one.ts';

export const JoinInput = z.strictObject({
  machine: z.string().min(1).optional().describe('only this one; otherwise every machine'),
});

const atOnce = 32;

/** Matches nodes to machines, prepares the ones that join, gives up on those that never do, removes stale nodes. */
export function joinWatcher(deps: Deps): Handler<z.output<typeof JoinInput>> {
  return async ({ machine }, { signal }) => {
    const [records, pools, settings, view] = await Promise.all([
      deps.inventory.machines(),
      deps.inventory.pools(),
      deps.inventory.settings(),
      deps.cluster.view(),
    ]);
    if (machine !== undefined && !records.some(({ spec }) => spec.name === machine))
      return rejected(`there is no machine called ${machine}`);
    const results: Record<string, string> = {};
    await forEachOf(
      records.filter(({ spec }) => machine === undefined || spec.name === machine),
      atOnce,
      async (record) => {
        if (signal.aborted) return;
        const pool = pools.find(({ name }) => name === record.spec.pool);
        const match = matchNode(record, view.nodes);
        const result = await watchOne({ deps, match, pool, settings, signal }, record);
        if (result) results[record.spec.name] = result;
      },
    );
    return done({ machines: results });
  };
}
