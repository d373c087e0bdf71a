import type { Deps } from '../../functions/deps.ts';
import { createFunctions, routesOf } from '../../functions/index.ts';
import { events } from '../../shared/ports/event-types.ts';
import type { EventSink } from '../../shared/ports/events.ts';
import type { Metrics } from '../../shared/process/metrics.ts';
import { createLocalSink, type LocalSink } from '../../shared/server/local-sink.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { openApi } from '../api/api.ts';
import { bootRoute } from '../boot/route.ts';
import type { ProviderOptions, RunningProvider } from '../cluster-autoscaler/server.ts';
import { consoleRoutes } from '../console/route.ts';
import { collector, measured } from './measure.ts';
import type { Doorway } from './serve-options.ts';
import { everything } from './wake-on-cluster.ts';

export interface HostOptions {
  readonly deps: Omit<Deps, 'sink'>;
  readonly serve: Doorway;
  readonly metrics: Metrics;
  readonly tickMs: number;
  /** Price of a kWh: saved energy is shown as money too. */
  readonly kWhPrice?: number | undefined;
  /** Where the stock Cluster Autoscaler is served, if it is. */
  readonly provider?: ProviderOptions | undefined;
}

export interface Host extends EventSink {
  readonly url: string;
  /** Lets what is under way finish its step, then stops. */
  close(): Promise<void>;
}

/** Most of a power operation is waiting for a BMC: many at once cost little, and a whole rack starts together. */
const concurrency = 256;

/** All functions in one process, with a tick: the embedded default. */
export async function startHost({
  deps: given,
  serve: where,
  metrics,
  tickMs,
  kWhPrice,
  provider: providerOptions,
}: HostOptions): Promise<Host> {
  const deps = measured(given, metrics);
  const { inventory, clock, log } = deps;
  let local: LocalSink | undefined;
  const sink: EventSink = { emit: async (event) => local?.emit(event) };
  const functions = createFunctions({ ...deps, sink });
  local = createLocalSink({
    functions,
    clock,
    log,
    metrics,
    deadLetters: createDeadLetters(inventory.store),
    concurrency,
  });
  const api = await openApi(deps, kWhPrice);
  const served: RunningServer = await serve(functions, {
    ...where,
    routes: [...consoleRoutes(log), ...api.routes, bootRoute(deps), ...routesOf({ ...deps, sink })],
    log,
    metrics,
    ready: () => whyNotReady(deps),
    collect: collector(deps, metrics, true),
  });

  const provider = providerOptions && (await startServing({ ...deps, sink }, providerOptions));

  const stopping = new AbortController();
  const ticking = (async () => {
    while (!stopping.signal.aborted) {
      await sink.emit(everything(events.tick));
      await clock.sleep(tickMs, stopping.signal);
    }
  })();

  return {
    url: served.url,
    emit: (event) => sink.emit(event),
    async close() {
      stopping.abort();
      await ticking;
      await provider?.close();
      await served.close();
      await local.close();
      await api.close();
    },
  };
}

/** Loaded only where it is wanted: most have no Cluster Autoscaler. */
async function startServing(deps: Deps, options: ProviderOptions): Promise<RunningProvider> {
  const { startProvider } = await import('../cluster-autoscaler/server.ts');
  const provider = await startProvider(deps, options);
  deps.log.info({ step: 'start', port: provider.port }, 'serving the Cluster Autoscaler');
  return provider;
}

async function whyNotReady({ inventory, cluster }: Omit<Deps, 'sink'>): Promise<string | undefined> {
  try {
    await inventory.settings();
    await cluster.view();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
