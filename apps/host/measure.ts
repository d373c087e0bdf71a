import type { Deps } from '../../functions/deps.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';
import type { Metrics } from '../../shared/process/metrics.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { readEnergy } from '../../shared/state/energy.ts';
import type { StateChange } from '../../shared/state/inventory.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';

/** The same, but what happens to machines is counted. */
export function measured<Some extends Pick<Deps, 'inventory'>>(
  deps: Some,
  metrics: Metrics,
): Some & { readonly metrics: Metrics } {
  const onStateChange = ({ pool, goal, end, bootMs }: StateChange): void => {
    if (goal && end) metrics.operations.inc({ pool, goal, outcome: end });
    if (bootMs !== undefined) metrics.bootDuration.observe({ pool }, bootMs / 1_000);
  };
  return { ...deps, inventory: { ...deps.inventory, onStateChange: onStateChange }, metrics };
}

/**
 * Sets the gauges from the store. Read at a scrape, so that every instance exports the same; exported by one
 * function only. Without the store only that is exported.
 */
export function collector(
  { inventory, log }: Pick<Deps, 'inventory' | 'log'>,
  metrics: Metrics,
  tellsFleet: boolean,
): () => Promise<void> {
  return async () => {
    metrics.buildInfo.set({ version: packageJson.version, node: process.versions.node }, 1);
    try {
      if (tellsFleet) await collectFleet(inventory, metrics);
      else await inventory.settings();
      metrics.storeUp.set(1);
    } catch (error) {
      log.debug({ err: error }, 'the store does not answer: its metrics are left out');
      metrics.storeUp.set(0);
      // Counters stay as they are: one that fell to 0 and came back would be counted twice.
      for (const gauge of fleetGauges(metrics)) gauge.reset();
    }
  };
}

const fleetGauges = (metrics: Metrics) => [
  metrics.machines,
  metrics.machineStateSince,
  metrics.machineInfo,
  metrics.machineTemperature,
  metrics.machineWatts,
  metrics.machineHealth,
  metrics.drainPodsLeft,
  metrics.drainPodsFound,
  metrics.bmcs,
  metrics.bmcsRefused,
  metrics.poolMin,
  metrics.poolMax,
  metrics.poolDesired,
  metrics.poolReady,
];

async function collectFleet(inventory: Deps['inventory'], metrics: Metrics): Promise<void> {
  const [machines, pools, energy, letters] = await Promise.all([
    inventory.machines(),
    inventory.pools(),
    readEnergy(inventory.store),
    createDeadLetters(inventory.store).list(),
  ]);
  // From here on synchronous: a concurrent scrape gets the old or the new values, never a mix.
  for (const gauge of fleetGauges(metrics)) gauge.reset();
  for (const machine of machines) tellMachine(machine, metrics);
  for (const pool of pools) tellPool(pool, machines, metrics);
  metrics.watts.set(energy?.watts ?? 0);
  metrics.wattsIfAllOn.set(energy?.allOn ?? 0);
  metrics.energyUsed.reset();
  metrics.energyUsed.inc((energy?.wattHours ?? 0) * joulesPerWattHour);
  metrics.energySaved.reset();
  metrics.energySaved.inc(Math.max(0, energy?.wattHoursSaved ?? 0) * joulesPerWattHour);
  metrics.deadLetters.set(letters.length);
}

const joulesPerWattHour = 3_600;

function tellMachine({ spec, status, metrics: known }: MachineRecord, metrics: Metrics): void {
  const { name: machine, pool } = spec;
  const { state, stateSince, bmcReachable, drain, refused } = status;
  metrics.machines.inc({ pool, state });
  metrics.machineStateSince.set({ machine, pool, state }, stateSince / 1_000);
  metrics.machineInfo.set({ machine, pool, node: status.kubernetesNode ?? '' }, 1);
  metrics.machineHealth.inc({ pool, health: known.health ?? 'unknown' });
  metrics.bmcs.inc({ pool, reachable: bmcReachable === undefined ? 'unknown' : String(bmcReachable) });
  metrics.bmcsRefused.inc({ pool }, refused ? 1 : 0);
  // A measurement from before it went off does not apply.
  if (status.powerState !== 'off') {
    if (known.watts !== undefined) metrics.machineWatts.set({ machine, pool }, known.watts);
    if (known.celsius !== undefined) metrics.machineTemperature.set({ machine, pool }, known.celsius);
  }
  if (!drain || capacityOf({ spec, status, metrics: known }) !== 'leaving') return;
  metrics.drainPodsLeft.set({ machine, pool }, drain.podsLeft);
  metrics.drainPodsFound.set({ machine, pool }, drain.podsTotal);
}

function tellPool({ name: pool, limits }: PoolSpec, all: readonly MachineRecord[], metrics: Metrics): void {
  const members = all.filter(({ spec }) => spec.pool === pool);
  const serving = members.filter((machine) => capacityOf(machine) === 'serving');
  const coming = members.filter((machine) => capacityOf(machine) === 'coming');
  metrics.poolMin.set({ pool }, limits.minNodes);
  metrics.poolMax.set({ pool }, limits.maxNodes);
  metrics.poolDesired.set({ pool }, serving.length + coming.length);
  metrics.poolReady.set({ pool }, serving.filter(({ status }) => status.nodeReady !== false).length);
}
