import type { z } from 'zod';
import { handlePowerInput, PowerInput } from '../../shared/by-hand/power-input.ts';
import { stepOf } from '../../shared/core/machine/lifecycle.ts';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import { forEachConcurrently, singleFlight } from '../../shared/process/concurrency.ts';
import type { Handler } from '../../shared/server/function.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { readProviders } from '../../shared/state/providers.ts';
import type { Deps } from '../deps.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createOrphanCollector } from './orphans.ts';
import { createProviders } from './providers.ts';
import { runPowerOperation } from './run-operation.ts';
import { createSweep } from './sweep.ts';

export { PowerInput };

/** Concurrency of operations and of checks of idle machines. */
const atOnce = { operations: 256, looks: 256 };

/** Runs power operations and verifies them; checks idle machines for unexpected changes. */
export function powerAction(deps: Deps): Handler<z.output<typeof PowerInput>> {
  const breaker = createCircuitBreaker(deps);
  const sweep = createSweep(deps, breaker);
  const collectOrphans = createOrphanCollector(deps);
  const providers = createProviders(deps);
  const operate = singleFlight((machine, signal) =>
    runPowerOperation(deps, machine, signal, breaker, providers),
  );
  /** Orphans are not looked for at a provider that refuses. */
  const checkPools = async ({ timings }: Settings, signal: AbortSignal): Promise<void> => {
    const pools = await deps.inventory.pools();
    await providers.check(pools, timings, signal);
    const states = new Map((await readProviders(deps.inventory.store)).map((one) => [one.pool, one]));
    const isUsable = ({ name, template }: PoolSpec): boolean =>
      template.provider?.offers !== undefined || states.get(name)?.checked === true;
    await collectOrphans(pools.filter(isUsable), signal);
  };
  return async (input, { signal }) => {
    const { machine, lift } = input;
    const begun = await handlePowerInput(deps, input);
    if (machine !== undefined && lift) sweep.checkSoon(machine);
    if (begun) return begun.ok ? done(begun) : rejected(begun.why);
    const records =
      machine === undefined ? await deps.inventory.machines() : [await deps.inventory.machine(machine)];
    const known = records.filter((record) => record !== undefined);
    if (known.length < records.length) return rejected(`there is no machine called ${machine}`);
    // A wake-up for a slice may be about its size.
    for (const { spec } of known)
      if (machine !== undefined && spec.offer !== undefined) sweep.checkSoon(machine);
    const settings = await deps.inventory.settings();
    const isWaiting = (record: MachineRecord): boolean =>
      stepOf(record) === 'power-action' && record.status.operation !== undefined;
    const results: Record<string, string> = {};
    const resting = known.filter((record) => !isWaiting(record) && sweep.isDue(record, settings));
    if (machine === undefined) sweep.keepOnly(new Set(known.map(({ spec }) => spec.name)));
    await Promise.all([
      forEachConcurrently(known.filter(isWaiting), atOnce.operations, async ({ spec }) => {
        results[spec.name] = await operate(spec.name, signal);
      }),
      forEachConcurrently(resting, atOnce.looks, async (record) => {
        if (!signal.aborted) results[record.spec.name] = await sweep(record, settings, signal);
      }),
      machine === undefined && checkPools(settings, signal),
    ]);
    return done({ machines: results });
  };
}
