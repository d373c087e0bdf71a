import type { EventSink } from '../../shared/ports.ts';
import { SettingsError } from '../../shared/runtime/flags.ts';
import { createHttpSink } from '../../shared/runtime/http-sink.ts';
import { connect } from '../connect.ts';
import { exitOnMistake, logFor, servingOptions, settingsOrExit, stopOnSignal } from '../process.ts';
import { providerOptions } from './options.ts';
import { startProvider } from './server.ts';

const settings = settingsOrExit();
const log = logFor(settings).child({ function: 'cluster-autoscaler' });
const { deps, close } = await connect({ settings, log, sees: [] }).catch(exitOnMistake);
const http =
  settings.sink === undefined
    ? undefined
    : createHttpSink({
        url: settings.sink,
        source: '/bamel/cluster-autoscaler',
        clock: deps.clock,
        extensions: settings.ceOverrides?.extensions,
        caCerts: settings.caCerts,
        token: servingOptions(settings).token,
      });
if (!http) log.warn({}, 'K_SINK is not set: other functions hear of this one only at their next tick');
const sink: EventSink = {
  async emit(event) {
    // The promise is written down: a sink that is away must not make the caller repeat it.
    await http
      ?.emit(event)
      .catch((error: unknown) => log.warn({ err: error, type: event.type }, 'event not sent'));
  },
};
const provider = await start().catch(exitOnMistake);
log.info({ port: provider.port }, 'serving the Cluster Autoscaler');
stopOnSignal(log, async () => {
  await provider.close();
  await http?.close();
  await close();
});

async function start() {
  const options = providerOptions(settings);
  if (!options)
    throw new SettingsError('--grpc-port: on which port is the Cluster Autoscaler to call? Give it');
  return startProvider({ ...deps, sink }, options);
}
