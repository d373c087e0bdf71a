import { openApi } from '../api/api.ts';
import { serveAlone } from '../serve-alone.ts';
import { start } from '../start.ts';
import { actsOf } from './acts.ts';
import { consoleRoutes } from './route.ts';

start(() =>
  serveAlone({
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
  }),
);
