import { createDeadLetters } from '../shared/adapters/dead-letters.ts';
import type { Node, Pod } from '../shared/core/cluster.ts';
import type { BamelEvent, EventSink } from '../shared/ports.ts';
import { createLocalSink, type LocalSink } from '../shared/runtime/local-sink.ts';
import type { Metrics } from '../shared/runtime/metrics.ts';
import { type Served, type ServeOptions, serve } from '../shared/runtime/serve.ts';
import type { Deps } from './deps.ts';
import { events } from './events.ts';
import { createFunctions } from './index.ts';

export interface HostOptions {
  readonly deps: Omit<Deps, 'sink'>;
  readonly serve: Pick<ServeOptions, 'host' | 'port' | 'token' | 'insecure'>;
  readonly metrics: Metrics;
  readonly tickMs: number;
}

export interface Host extends EventSink {
  readonly url: string;
  /** Lets what is under way finish its step, then stops. */
  close(): Promise<void>;
}

/** Most of a power operation is waiting for a BMC: many at once cost little, and a whole rack starts together. */
const concurrency = 256;

const everything = (type: string): BamelEvent => ({ type, subject: 'everything', data: {} });

/** All functions in one process, with a tick: the embedded default. */
export async function startHost({ deps, serve: where, metrics, tickMs }: HostOptions): Promise<Host> {
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
  const served: Served = await serve(functions, {
    ...where,
    log,
    metrics,
    ready: () => whyNotReady(deps),
  });

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
      await served.close();
      await local.close();
    },
  };
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

/** What the cluster's own watch has to say, as the events that Knative's ApiServerSource would send. */
export const wakeOnCluster = (emit: (event: BamelEvent) => void) => ({
  onPod(now: Pod | undefined, before: Pod | undefined): void {
    if (now?.unschedulable !== undefined && before?.unschedulable === undefined)
      emit(everything(events.podWaiting));
  },
  onNode(now: Node | undefined, before: Node | undefined): void {
    if (now?.ready !== before?.ready || now?.bootID !== before?.bootID) emit(everything(events.nodeChanged));
  },
});
