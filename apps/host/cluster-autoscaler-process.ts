import { SettingsError } from '../../shared/process/flags.ts';
import { providerOptions } from '../cluster-autoscaler/options.ts';
import { startProvider } from '../cluster-autoscaler/server.ts';
import { connect } from './connect.ts';
import { outgoing } from './outgoing.ts';
import { exitOnMistake, logFor, settingsOrExit, stopOnSignal } from './process.ts';

/** The gRPC service for the stock Cluster Autoscaler in a process of its own. */
export async function serveClusterAutoscaler(args: readonly string[]): Promise<void> {
  const settings = settingsOrExit(args);
  const log = logFor(settings).child({ function: 'cluster-autoscaler' });
  const { deps, close } = await connect({ settings, log, watches: [] }).catch(exitOnMistake);
  const out = outgoing(settings, 'cluster-autoscaler', deps);
  const start = async () => {
    const options = providerOptions(settings);
    if (!options)
      throw new SettingsError('--grpc-port: on which port is the Cluster Autoscaler to call? Give it');
    return startProvider({ ...deps, sink: out.sink }, options);
  };
  const provider = await start().catch(exitOnMistake);
  log.info({ port: provider.port }, 'serving the Cluster Autoscaler');
  stopOnSignal(log, async () => {
    await provider.close();
    await out.close();
    await close();
  });
}
