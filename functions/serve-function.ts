import type { EventSink } from '../shared/ports.ts';
import { createHttpSink } from '../shared/runtime/http-sink.ts';
import { createMetrics } from '../shared/runtime/metrics.ts';
import { serve } from '../shared/runtime/serve.ts';
import { connect } from './connect.ts';
import { functionTable } from './index.ts';
import { permissions } from './permissions.ts';
import { exitOnMistake, logFor, servingOptions, settingsOrExit, stopOnSignal } from './process.ts';

/** One function in a process of its own: what Knative and OpenFaaS run. */
export async function serveFunction(name: string): Promise<void> {
  const settings = settingsOrExit();
  const log = logFor(settings).child({ function: name });
  const row = functionTable.find(({ definition }) => definition.name === name);
  if (!row) throw new Error(`there is no function ${name}`);
  const where = servingOptions(settings);
  const { deps, close } = await connect({ settings, log, sees: permissions[name]?.sees }).catch(
    exitOnMistake,
  );
  const http =
    settings.sink === undefined
      ? undefined
      : createHttpSink({
          url: settings.sink,
          source: `/bamel/${name}`,
          clock: deps.clock,
          extensions: settings.ceOverrides?.extensions,
          caCerts: settings.caCerts,
          token: where.token,
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
    ...where,
    log,
    metrics: createMetrics(),
    ready: async () => {
      await deps.inventory.settings();
      return undefined;
    },
  }).catch(exitOnMistake);
  log.info({ url: served.url }, 'serving');
  stopOnSignal(log, async () => {
    await served.close();
    await http?.close();
    await close();
  });
}
