import { consoleRoutes } from '../../../apps/console/route.ts';
import { createLog } from '../../../shared/process/log.ts';
import { createMetrics } from '../../../shared/process/metrics.ts';
import { type RunningServer, serve } from '../../../shared/server/serve.ts';

export interface FakeHost extends RunningServer {
  /** Tells every console that these kinds of things changed. */
  tell(kinds: readonly string[]): void;
}

/** The console over answers that somebody made up. */
export async function startFakeHost(answer: (path: string) => unknown): Promise<FakeHost> {
  const log = createLog({ level: 'silent', format: 'json' });
  const listeners = new Set<(kinds: readonly string[]) => void>();
  const served = await serve([], {
    host: '127.0.0.1',
    port: 0,
    log,
    metrics: createMetrics(),
    routes: [
      ...consoleRoutes(log),
      {
        method: 'GET',
        path: '/api/stream',
        respond({ response, signal }) {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('event: hello\ndata: {}\n\n');
          const tell = (kinds: readonly string[]) =>
            response.write(`event: changed\ndata: ${JSON.stringify(kinds)}\n\n`);
          listeners.add(tell);
          const over = Promise.withResolvers<undefined>();
          const end = () => {
            listeners.delete(tell);
            response.end();
            over.resolve(undefined);
          };
          signal.addEventListener('abort', end);
          response.on('close', end);
          return over.promise;
        },
      },
      {
        method: 'GET',
        path: '/api/*',
        respond: async ({ request }) => ({
          status: 200,
          json: answer(decodeURIComponent((request.url ?? '').split('?', 1)[0] ?? '')),
        }),
      },
    ],
  });
  return {
    ...served,
    tell: (kinds) => {
      for (const listener of listeners) listener(kinds);
    },
  };
}
