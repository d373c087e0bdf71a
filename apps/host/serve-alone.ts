import type { Deps } from '../../functions/deps.ts';
import { permissions } from '../../functions/permissions.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import type { ServedFunction } from '../../shared/server/function.ts';
import type { Route } from '../../shared/server/routes.ts';
import { serve } from '../../shared/server/serve.ts';
import { connect } from './connect.ts';
import { collector, measured } from './measure.ts';
import { outgoing } from './outgoing.ts';
import { exitOnMistake, logFor, orExit, settingsOrExit, stopOnSignal } from './process.ts';
import { serverOptionsOf } from './serve-options.ts';

/** A function in a process of its own. */
interface Alone {
  readonly functions: readonly ServedFunction[];
  readonly routes?: readonly Route[];
  close?(): Promise<void>;
}

export interface AloneOptions {
  readonly name: string;
  make(deps: Deps, settings: ProcessSettings): Alone | Promise<Alone>;
}

/** One part of the whole in a process of its own: what Knative and OpenFaaS run. */
export async function serveAlone(args: readonly string[], { name, make }: AloneOptions): Promise<void> {
  const settings = settingsOrExit(args);
  const log = logFor(settings).child({ function: name });
  const metrics = createMetrics(name);
  const {
    deps: given,
    transport,
    close,
  } = await connect({
    settings,
    log,
    watches: permissions[name]?.watches,
  }).catch(exitOnMistake);
  const deps = measured(given, metrics);
  const server = orExit(() => serverOptionsOf(settings, deps, transport));
  const out = outgoing(settings, name, deps);
  const start = async () => {
    const made = await make({ ...deps, sink: out.sink }, settings);
    const served = await serve(made.functions, {
      ...server.doorway,
      log,
      metrics,
      routes: made.routes ?? [],
      collect: collector(deps, metrics, name === 'evaluate-scaling'),
      ready: async () => {
        await deps.inventory.settings();
        return undefined;
      },
    });
    return { made, served };
  };
  const { made, served } = await start().catch(exitOnMistake);
  log.info({ url: served.url }, 'serving');
  stopOnSignal(log, async () => {
    await served.close();
    await made.close?.();
    await out.close();
    await server.close();
    await close();
  });
}
