// One function in a process of its own, as Knative and OpenFaaS run it: `function.ts NAME [SETTINGS]`. Without a name in
// the arguments, BAMEL_FUNCTION names it.
import { z } from 'zod';
import type { Deps } from '../functions/deps.ts';
import { functionTable } from '../functions/index.ts';
import { SettingsError } from '../shared/process/flags.ts';
import { exitOnMistake } from './host/process.ts';
import { serveAlone } from './host/serve-alone.ts';

// Parsers that zod compiles pay off after many events, not for the first one.
z.config({ jitless: true });

const [first = '-', ...others] = process.argv.slice(2);
const isNamed = !first.startsWith('-');
await serve(isNamed ? first : process.env.BAMEL_FUNCTION, isNamed ? others : process.argv.slice(2));

async function serve(name: string | undefined, args: readonly string[]): Promise<void> {
  // These need packages that no function needs.
  if (name === 'console') return (await import('./host/console-process.ts')).serveConsole(args);
  if (name === 'cluster-autoscaler')
    return (await import('./host/cluster-autoscaler-process.ts')).serveClusterAutoscaler(args);
  if (name === 'cluster-source') return (await import('./host/cluster-source.ts')).serveClusterSource(args);
  const row = functionTable.find(({ definition }) => definition.name === name);
  if (!row) {
    const names = functionTable.map(({ definition }) => definition.name);
    exitOnMistake(
      new SettingsError(
        `${name ? `there is no function ${name}` : 'which function? Name it as the first argument or in BAMEL_FUNCTION'}; there are: ${[...names, 'console', 'cluster-autoscaler', 'cluster-source'].join(', ')}`,
      ),
    );
  }
  const { create, routes, prefetch } = row;
  /** The event that the process was started for is on its way, and will need this. */
  const look = async (deps: Deps): Promise<void> => {
    await prefetch?.(deps).catch((error: unknown) =>
      deps.log.debug({ err: error }, 'the cluster does not answer yet: the first event asks again'),
    );
  };
  await serveAlone(args, {
    name: row.definition.name,
    make(deps) {
      void look(deps);
      return { functions: [create(deps)], routes: routes(deps) };
    },
  });
}
