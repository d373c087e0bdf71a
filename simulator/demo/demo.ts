import { KubeConfig } from '@kubernetes/client-node';
import { connect } from '../../functions/connect.ts';
import { type Host, startHost, wakeOnCluster } from '../../functions/host.ts';
import { exitOnMistake, logFor, servingOptions, stopOnSignal } from '../../functions/process.ts';
import { loadInventory } from '../../shared/adapters/inventory-load.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import type { ProcessSettings } from '../../shared/runtime/settings.ts';
import { labConfig, labCredentials } from '../lab/config.ts';
import { startLab } from '../lab/lab.ts';
import { tellPods } from './pods-story.ts';
import { playScenario } from './scenario.ts';

const speed = 20;
const mini = {
  cpu: 8,
  memory: '32Gi',
  watts: { idle: 12, max: 65 },
  bootSeconds: 60,
  pool: 'closet',
  rack: 'shelf',
};
const machines = [
  { ...mini, name: 'mini-1' },
  { ...mini, name: 'mini-2' },
  {
    ...mini,
    name: 'tower-1',
    cpu: 32,
    memory: '256Gi',
    gpu: 2,
    watts: { idle: 90, max: 410 },
    bootSeconds: 90,
  },
];

/** The same functions, store and driver as in production, on machines that exist only in this process. */
export async function runDemo(settings: ProcessSettings): Promise<void> {
  const log = logFor(settings, 'story');
  log.info({ step: 'start', story: 'no BAMEL_CONFIG is set: this is the demo, on a simulated rack' }, 'demo');
  const lab = await startLab({ machines, speed });
  const inventory = lab.inventory();
  const stopping = new AbortController();
  let host: Host | undefined;
  const { deps, close } = await connect({
    // Never the store that BAMEL_STORE may name: the demo would replace the inventory in it.
    // The lab's BMCs are on loopback, wherever the demo itself listens.
    settings: { ...settings, store: 'embedded:', allowedNetworks: ['127.0.0.0/8'] },
    log,
    kubeconfig: lab.kubeconfig,
    credentials: labCredentials(inventory),
    ...wakeOnCluster((event) => void host?.emit(event)),
  });
  await loadInventory(
    deps.inventory.store,
    labConfig(inventory, {
      // Boots take seconds here: there is nothing to weigh.
      autoscaler: { scaleDown: { weighBoot: false } },
      pools: [
        {
          name: 'closet',
          limits: { maxNodes: 3 },
          scaleDown: { unneededFor: '3s', drainTimeout: '20s' },
          provisionTimeout: '60s',
        },
      ],
    }),
  );
  log.info(
    {
      step: 'start',
      story: `3 machines, all off: mini-1 and mini-2 (8 cpu), tower-1 (32 cpu, 2 gpu). Time runs ${speed} times faster for them`,
    },
    'inventory loaded',
  );
  host = await startHost({
    deps,
    serve: servingOptions(settings),
    metrics: createMetrics(),
    tickMs: 1000,
  }).catch(exitOnMistake);
  log.info(
    {
      step: 'start',
      url: host.url,
      story: `listening on ${host.url}; Ctrl-C stops. By hand: curl -d '{"dryRun":true}' ${host.url}/evaluate-scaling`,
    },
    'listening',
  );

  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(lab.kubeconfig);
  const playing = Promise.all([
    playScenario(kubeConfig, deps.clock, log, stopping.signal),
    tellPods(deps.cluster, deps.clock, log, stopping.signal),
  ]);
  playing.catch((error: unknown) => log.error({ err: error }, 'the demo stopped playing'));
  stopOnSignal(log, async () => {
    stopping.abort();
    await playing;
    await host.close();
    await close();
    await lab.stop();
    log.info({ step: 'stop', story: 'stopped; the simulated rack is gone' }, 'stopped');
  });
}
