import type { Deps } from './deps.ts';
import { functionTable } from './index.ts';
import { serveAlone } from './serve-alone.ts';

/** One function of the table in a process of its own. */
export async function serveFunction(name: string): Promise<void> {
  const row = functionTable.find(({ definition }) => definition.name === name);
  if (!row) throw new Error(`there is no function ${name}`);
  const { create, routes, looksAt } = row;
  // As soon as that is loaded, Node.js reads certificates in another thread, which take as long as all until we listen.
  if (looksAt) process.getBuiltinModule('node:tls');
  /** The process was started because an event waits for it. */
  const look = async (deps: Deps): Promise<void> => {
    await looksAt?.(deps).catch((error: unknown) =>
      deps.log.debug({ err: error }, 'asked in vain: the first event asks again'),
    );
  };
  await serveAlone({
    name,
    make(deps) {
      void look(deps);
      return { functions: [create(deps)], routes: routes(deps) };
    },
  });
}
