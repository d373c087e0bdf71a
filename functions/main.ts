import { readFile } from 'node:fs/promises';
import { loadInventory } from '../shared/adapters/inventory-load.ts';
import { tokenFromFile } from '../shared/runtime/callers.ts';
import { createMetrics } from '../shared/runtime/metrics.ts';
import { ConfigError, parseConfig } from '../shared/schema/config-file.ts';
import { connect } from './connect.ts';
import { startHost, wakeOnCluster } from './host.ts';
import { exitOnMistake, logFor, settingsOrExit, stopOnSignal } from './process.ts';

const settings = settingsOrExit();

if (settings.config === undefined) {
  // Without a description of machines there is nothing real to act on, whatever cluster may be within reach.
  const { runDemo } = await import('../simulator/demo/demo.ts');
  await runDemo(settings);
} else await runHost(settings.config);

/** The host on real machines and a real cluster. */
async function runHost(file: string): Promise<void> {
  const log = logFor(settings);
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    exitOnMistake(
      new ConfigError(
        `${file}: cannot be read (${error.message}). It is what BAMEL_CONFIG or --config names`,
      ),
    );
  });
  let config: ReturnType<typeof parseConfig>;
  try {
    config = parseConfig(text, file);
  } catch (error) {
    exitOnMistake(error);
  }
  const wake = wakeOnCluster((event) => void host?.emit(event));
  const { deps, close } = await connect({ settings, log, ...wake });
  let host: Awaited<ReturnType<typeof startHost>> | undefined;
  const loaded = await loadInventory(deps.inventory.store, config);
  log.info(
    { step: 'start', ...loaded, story: `${loaded.machines} machines in the inventory` },
    'inventory loaded',
  );
  host = await startHost({
    deps,
    serve: {
      host: settings.host,
      port: settings.port,
      token: settings.tokenFile ? tokenFromFile(settings.tokenFile) : undefined,
      insecure: settings.insecure,
    },
    metrics: createMetrics(),
    tickMs: settings.tickMs,
  });
  log.info({ step: 'start', url: host.url, story: `listening on ${host.url}` }, 'listening');
  stopOnSignal(log, async () => {
    await host.close();
    await close();
  });
}
