import type { EventSink } from '../shared/ports.ts';
import { createHttpSink } from '../shared/runtime/http-sink.ts';
import { createMetrics } from '../shared/runtime/metrics.ts';
import { metricsLater } from '../shared/runtime/metrics-later.ts';
import { serve } from '../shared/runtime/serve.ts';
import { connect } from './connect.ts';
import { doorOf, sinkToken } from './door.ts';
import { functionTable } from './index.ts';
import { collector, measured } from './measure.ts';
import { permissions } from './permissions.ts';
import { exitOnMistake, logFor, orExit, settingsOrExit, stopOnSignal } from './process.ts';

/** One function in a process of its own: what Knative and OpenFaaS run. */
export async function serveFunction(name: string): Promise<void> {
  const settings = settingsOrExit();
  const log = logFor(settings).child({ function: name });
  const row = functionTable.find(({ definition }) => definition.name === name);
  if (!row) throw new Error(`there is no function ${name}`);
  const metrics = metricsLater(() => createMetrics(name));
  const { deps: given, close } = await connect({
    settings,
    log,
    quick: true,
    sees: permissions[name]?.sees,
  }).catch(exitOnMistake);
  const deps = measured(given, metrics);
  const door = orExit(() => doorOf(settings, deps));
  const http =
    settings.sink === undefined
      ? undefined
      : createHttpSink({
          url: settings.sink,
          source: `/bamel/${name}`,
          clock: deps.clock,
          extensions: settings.ceOverrides?.extensions,
          caCerts: settings.caCerts,
          token: sinkToken(settings),
        });
  const sink: EventSink = {
    async emit(event) {
      // The work is done and written down: a sink that is away must not make the caller repeat it.
      await http
        ?.emit(event)
        .catch((error: unknown) => log.warn({ err: error, type: event.type }, 'event not sent'));
    },
  };
  if (!http) log.warn({}, 'K_SINK is not set: other functions hear of this one only at their next tick');
  const served = await serve([row.create({ ...deps, sink })], {
    ...door.doorway,
    log,
    metrics,
    collect: collector(deps, metrics, name === 'evaluate-scaling'),
    ready: async () => {
      await deps.inventory.settings();
      return undefined;
    },
  }).catch(exitOnMistake);
  log.info({ url: served.url }, 'serving');
  stopOnSignal(log, async () => {
    await served.close();
    await http?.close();
    await door.close();
    await close();
  });
}
