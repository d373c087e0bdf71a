import type { z } from 'zod';
import { DrainInput, requestDrain } from '../../shared/by-hand/drain.ts';
import { capacityOf, stepOf } from '../../shared/core/machine/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import { forEachConcurrently, singleFlight } from '../../shared/process/concurrency.ts';
import type { Handler } from '../../shared/server/function.ts';
import type { Deps } from '../deps.ts';
import { drain, type Refusals } from './drain.ts';
import { stillCordoned, uncordonServing } from './uncordon-serving.ts';

export { DrainInput };

const atOnce = 8;

/** Drains nodes before their machines are powered off; aborts rather than lose a pod. */
export function drainNode(deps: Deps): Handler<z.output<typeof DrainInput>> {
  const refusals = new Map<string, Refusals>();
  const drainOne = singleFlight(async (machine, signal) => {
    const remembered = refusals.get(machine) ?? new Map();
    refusals.set(machine, remembered);
    return drain(deps, machine, remembered, signal);
  });
  return async ({ machine, action, ...how }, { signal }) => {
    if (machine !== undefined && action !== undefined) {
      const asked = await requestDrain(deps, machine, { action, ...how });
      return asked.ok ? done(asked) : rejected(asked.why);
    }
    const records = await deps.inventory.machines();
    if (machine !== undefined && !records.some(({ spec }) => spec.name === machine))
      return rejected(`there is no machine called ${machine}`);
    const asked = records.filter(({ spec }) => machine === undefined || spec.name === machine);
    const due = asked.filter((record) => stepOf(record) === 'drain-node');
    for (const { spec } of asked.filter((record) => !due.includes(record))) refusals.delete(spec.name);
    const results: Record<string, string> = {};
    await forEachConcurrently(due, atOnce, async ({ spec }) => {
      results[spec.name] = await drainOne(spec.name, signal);
    });
    if (asked.some((record) => capacityOf(record) === 'serving')) {
      const [settings, { nodes }] = await Promise.all([deps.inventory.settings(), deps.cluster.view()]);
      await forEachConcurrently(stillCordoned(asked, nodes), atOnce, async ({ record, node }) => {
        const result = await uncordonServing(deps, record, node, settings, signal);
        if (result) results[record.spec.name] = result;
      });
    }
    return done({ machines: results });
  };
}
