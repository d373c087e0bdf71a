import { z } from 'zod';
import { matchAll } from '../../shared/core/cluster/match-all.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/server/function.ts';
import { createStateClock } from '../../shared/state/state-clock.ts';
import { type Deps, forEachOf } from '../deps.ts';
import { createReporter } from './findings.ts';
import { recover } from './recover-node.ts';
import { sceneOf, stepFor } from './scene.ts';
import { watchOne } from './watch-one.ts';

export const JoinInput = z.strictObject({
  machine: z.string().min(1).optional().describe('only this one; otherwise every machine'),
});

const atOnce = 32;

/**
 * Matches nodes to machines, prepares the ones that join, gives up on those that never do, notices those whose
 * node is lost, removes stale nodes. What does not add up is told, and nobody is touched for it.
 */
export function joinWatcher(deps: Deps): Handler<z.output<typeof JoinInput>> {
  const sinceWhen = createStateClock(deps.clock);
  const report = createReporter(deps);
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
    const scene = sceneOf({ deps, records, pools, settings, view, matches, sinceWhen, signal });
    const results: Record<string, string> = {};
    const asked = records.filter(({ spec }) => machine === undefined || spec.name === machine);
    await forEachOf(asked, atOnce, async (record) => {
      if (signal.aborted) return;
      const result = await watchOne(scene, record);
      if (result) results[record.spec.name] = result;
    });
    // One after the other: each must know of the others.
    for (const record of asked) {
      if (signal.aborted || stepFor(scene, record).kind === 'wait') continue;
      const result = await recover(scene, record.spec.name);
      if (result) results[record.spec.name] = result;
    }
    const findings = matches.findings.map(({ text }) => text);
    return done({ machines: results, ...(findings.length > 0 && { findings }) });
  };
}
