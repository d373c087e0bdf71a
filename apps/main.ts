import { readConfig } from '../shared/adapters/files/config-file.ts';
import { isFile } from '../shared/adapters/files/config-source.ts';
import { machineProblem } from '../shared/drivers/check-options.ts';
import { createMetrics } from '../shared/process/metrics.ts';
import { loadInventory } from '../shared/state/inventory-load.ts';
import { providerOptions } from './cluster-autoscaler/options.ts';
import { connect } from './host/connect.ts';
import { type Host, startHost } from './host/host.ts';
import { exitOnMistake, logFor, orExit, settingsOrExit, stopOnSignal } from './host/process.ts';
import { serverOptionsOf } from './host/serve-options.ts';
import { wakeOnCluster } from './host/wake-on-cluster.ts';

const settings = settingsOrExit();

if (settings.config === undefined) {
  // Without a description of machines there is nothing real to act on, whatever cluster may be within reach.
  const { runDemo } = await import('../simulator/demo/demo.ts');
  await runDemo(settings);
} else await runHost(settings.config);

/** The host on real machines and a real cluster. */
async function runHost(file: string): Promise<void> {
  const log = logFor(settings);
  // What stands in the cluster is for sync-inventory to load, once the cluster answers.
  const config = isFile(file) ? await readConfig(file, machineProblem).catch(exitOnMistake) : undefined;
  let host: Host | undefined;
  const wake = wakeOnCluster((event) => void host?.emit(event));
  const { deps, transport, close } = await connect({ settings, log, ...wake }).catch(exitOnMistake);
  if (config) {
    const loaded = await loadInventory(deps.inventory.store, config).catch(exitOnMistake);
    log.info(
      { step: 'start', ...loaded, text: `${loaded.machines} machines in the inventory` },
      'inventory loaded',
    );
  }
  const { tickMs } = settings;
  const server = orExit(() => serverOptionsOf(settings, deps, transport));
  host = await startHost({
    deps,
    serve: server.doorway,
    metrics: createMetrics(),
    tickMs,
    kWhPrice: settings.kWhPrice,
    provider: orExit(() => providerOptions(settings)),
  }).catch(exitOnMistake);
  log.info({ step: 'start', url: host.url, text: `listening on ${host.url}` }, 'listening');
  stopOnSignal(log, async () => {
    await host.close();
    await server.close();
    await close();
  });
}
