import { KubeConfig } from '@kubernetes/client-node';
import { connect } from '../../apps/host/connect.ts';
import { type Host, startHost } from '../../apps/host/host.ts';
import { exitOnMistake, logFor, orExit, stopOnSignal } from '../../apps/host/process.ts';
import { serverOptionsOf } from '../../apps/host/serve-options.ts';
import { wakeOnCluster } from '../../apps/host/wake-on-cluster.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { labConfig, labCredentials } from '../lab/config.ts';
import { type InventoryEntry, startLab } from '../lab/lab.ts';
import { play } from './play.ts';
import { tellPods } from './pods-story.ts';
import { defaultMachines, type Pool, scenarios } from './scenario.ts';

/** The speed that the scenarios are written for. */
const usualSpeed = 20;
const usualPrice = 0.3;

/** The same functions, store and driver as in production, on machines that exist only in this process. */
export async function runDemo(settings: ProcessSettings): Promise<void> {
  const log = logFor(settings, 'story');
  const { scenario: name = 'day', speed = usualSpeed } = settings;
  const scenario = scenarios[name];
  const pools = scenario.pools(settings.machines ?? defaultMachines[name]);
  const machines = pools.flatMap((pool) => pool.machines);
  const pace = usualSpeed / speed;
  log.info({ step: 'start', text: `no BAMEL_CONFIG is set: this is the demo, ${scenario.says}` }, 'demo');
  const lab = await startLab({ machines, speed });
  const inventory = lab.inventory();
  const stopping = new AbortController();
  let host: Host | undefined;
  const { deps, transport, close } = await connect({
    // Never the store that BAMEL_STORE may name: the demo would replace the inventory in it.
    // The lab's BMCs are on loopback, wherever the demo itself listens.
    settings: { ...settings, store: 'embedded:', allowedNetworks: ['127.0.0.0/8'] },
    log,
    kubeconfig: lab.kubeconfig,
    credentials: labCredentials(inventory),
    ...wakeOnCluster((event) => void host?.emit(event)),
  });
  const { store } = deps.inventory;
  await loadInventory(store, demoConfig(pools, inventory, pace));
  const held = pools.map((pool) => `${pool.name} ${pool.machines.length}`).join(', ');
  log.info(
    {
      step: 'start',
      text: `${machines.length} machines, all off (${held}). Time runs ${speed} times faster for them`,
    },
    'inventory loaded',
  );
  const door = orExit(() => serverOptionsOf(settings, deps, transport));
  host = await startHost({
    deps,
    serve: door.doorway,
    metrics: createMetrics(),
    tickMs: 1000,
    kWhPrice: settings.kWhPrice ?? usualPrice,
  }).catch(exitOnMistake);
  log.info(
    {
      step: 'start',
      url: host.url,
      text: `the console is at ${host.url}/; Ctrl-C stops. By hand: curl -d '{"dryRun":true}' ${host.url}/evaluate-scaling`,
    },
    'listening',
  );

  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(lab.kubeconfig);
  const { clock } = deps;
  const { signal } = stopping;
  const playing = Promise.all([
    play(scenario, pools, { kubeConfig, lab, store, clock, log, signal, pace }),
    tellPods(deps.cluster, clock, log, signal),
  ]);
  playing.catch((error: unknown) => log.error({ err: error }, 'the demo stopped playing'));
  stopOnSignal(log, async () => {
    stopping.abort();
    await playing;
    await host.close();
    await door.close();
    await close();
    await lab.stop();
    log.info({ step: 'stop', text: 'stopped; the simulated rack is gone' }, 'stopped');
  });
}

/** Patient enough for machines that live this fast, and no more. */
function demoConfig(pools: readonly Pool[], inventory: readonly InventoryEntry[], pace: number) {
  const seconds = (usual: number): string => `${Math.max(1, Math.round(usual * pace))}s`;
  const config = labConfig(inventory, {
    pools: pools.map(({ name, machines, minNodes = 0 }) => ({
      name,
      limits: { minNodes, maxNodes: machines.length },
      scaleDown: { maxConcurrent: 4, unneededFor: seconds(3), drainTimeout: seconds(20) },
      provisionTimeout: seconds(60),
    })),
  });
  return {
    ...config,
    autoscaler: {
      ...config.autoscaler,
      timings: {
        ...config.autoscaler?.timings,
        powerOnTimeout: seconds(8),
        // All BMCs are in this process, and take their turns.
        bmcTimeout: `${Math.max(2, Math.round(inventory.length / 30))}s`,
      },
      // Longer than the broken machine is away, and no more than the rest of its day.
      cooldowns: { afterFailure: seconds(15) },
      // Boots take seconds here: there is nothing to weigh.
      scaleDown: { weighBoot: false },
    },
  };
}
