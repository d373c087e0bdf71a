import { z } from 'zod';
import { matchAll } from '../../shared/core/cluster/match-all.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import { forEachConcurrently } from '../../shared/process/concurrency.ts';
import type { Handler } from '../../shared/server/function.ts';
import { createStateClock } from '../../shared/state/state-clock.ts';
import type { Deps } from '../deps.ts';
import { createFindingReporter } from './finding-reporter.ts';
import { recoverNode } from './recover-node.ts';
import { stepFor, watchContext } from './watch-context.ts';
import { watchMachine } from './watch-machine.ts';

export const JoinInput = z.strictObject({
  machine: z.string().min(1).optional().describe('only this one; otherwise every machine'),
});

const atOnce = 32;

/**
 * Matches nodes to machines, prepares nodes that join, quarantines machines that do not join in time, detects
 * lost nodes and removes stale nodes. Inconsistencies are reported, and the machines concerned are not
 * operated.
 */
export function joinWatcher(deps: Deps): Handler<z.output<typeof JoinInput>> {
  const sinceWhen = createStateClock(deps.clock);
  const report = createFindingReporter(deps);
  return async ({ machine }, { signal }) => {
    const [records, pools, settings, view] = await Promise.all([
      deps.inventory.machines(),
      deps.inventory.pools(),
      deps.inventory.settings(),
      deps.cluster.view(),
    ]);
    if (machine !== undefined && !records.some(({ spec }) => spec.name === machine))
      return rejected(`there is no machine called ${machine}`);
    const matches = matchAll(records, view.nodes, pools);
    await report(matches.findings);
    const context = watchContext({ deps, records, pools, settings, view, matches, sinceWhen, signal });
    const results: Record<string, string> = {};
    const asked = records.filter(({ spec }) => machine === undefined || spec.name === machine);
    await forEachConcurrently(asked, atOnce, async (record) => {
      if (signal.aborted) return;
      const result = await watchMachine(context, record);
      if (result) results[record.spec.name] = result;
    });
    // Sequential: each step must see the effect of the others.
    for (const record of asked) {
      if (signal.aborted || stepFor(context, record).kind === 'wait') continue;
      const result = await recoverNode(context, record.spec.name);
      if (result) results[record.spec.name] = result;
    }
    const findings = matches.findings.map(({ text }) => text);
    return done({ machines: results, ...(findings.length > 0 && { findings }) });
  };
}
