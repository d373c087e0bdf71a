import type { BamelEvent, EventSink } from '../../shared/ports/events.ts';
import { SettingsError } from '../../shared/process/flags.ts';
import { connect } from './connect.ts';
import { outgoing } from './outgoing.ts';
import { exitOnMistake, logFor, settingsOrExit, stopOnSignal } from './process.ts';
import { wakeOnCluster } from './wake-on-cluster.ts';

/** Starts watches that were refused, and finds custom resources that were installed since. */
const askAgainEveryMs = 30_000;

/**
 * Watches pods, nodes and our custom resources, and sends to K_SINK what wakes functions: the source of a Knative
 * installation. An ApiServerSource cannot do it: its filters see neither conditions nor what changed.
 */
export async function serveClusterSource(args: readonly string[]): Promise<void> {
  const name = 'cluster-source';
  const settings = settingsOrExit(args);
  if (settings.sink === undefined) exitOnMistake(new SettingsError('K_SINK: where do events go? Set it'));
  const log = logFor(settings).child({ function: name });
  let send = (_event: BamelEvent): void => undefined;
  const { deps, close } = await connect({
    settings,
    log,
    watches: ['pods', 'nodes'],
    ...wakeOnCluster((event) => send(event), process.env.POD_NAMESPACE),
  }).catch(exitOnMistake);
  const out = outgoing(settings, name, deps);
  send = oneOfEach(out.sink);
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const asked = await Promise.allSettled([deps.cluster.view(), deps.resources?.all()]);
      for (const one of asked)
        if (one.status === 'rejected') log.warn({ err: one.reason }, 'the cluster does not answer');
      await deps.clock.sleep(askAgainEveryMs, stopping.signal);
    }
  })();
  log.info({ sink: settings.sink }, 'watching the cluster');
  stopOnSignal(log, async () => {
    stopping.abort();
    await watching;
    await out.close();
    await close();
  });
}

/** While an event is on its way, all of its type that follow are one more: each says only "look again". */
export function oneOfEach({ emit }: EventSink): (event: BamelEvent) => void {
  const underWay = new Map<string, boolean>();
  return (event) => {
    const { type } = event;
    if (underWay.has(type)) {
      underWay.set(type, true);
      return;
    }
    const run = async (): Promise<void> => {
      do {
        underWay.set(type, false);
        await emit(event);
      } while (underWay.get(type));
      underWay.delete(type);
    };
    void run();
  };
}
