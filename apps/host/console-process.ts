import { openApi } from '../api/api.ts';
import { actsOf } from '../console/acts.ts';
import { consoleRoutes } from '../console/route.ts';
import { serveAlone } from './serve-alone.ts';

/** The console in a process of its own. */
export const serveConsole = (args: readonly string[]): Promise<void> =>
  serveAlone(args, {
    name: 'console',
    async make(deps, { kWhPrice, store }) {
      if (store.startsWith('embedded:'))
        deps.log.warn(
          { store },
          'an embedded store is of this process alone: name the etcd of the functions',
        );
      const api = await openApi(deps, kWhPrice);
      return {
        functions: actsOf(deps),
        routes: [...consoleRoutes(deps.log), ...api.routes],
        close: () => api.close(),
      };
    },
  });
