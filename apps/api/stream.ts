import type { Route } from '../../shared/server/routes.ts';
import type { Surroundings } from '../../shared/view/surroundings.ts';
import type { Kind, View } from '../../shared/view/view.ts';

/** Changes of a burst are sent together. */
const gatherMs = 200;
const pingEveryMs = 15_000;
/** The cluster announces nothing: it is looked at this often while a console is open. */
const lookEveryMs = 2_000;

/** Server-sent events: which kinds of things changed. The listener asks for them again. */
export const streamRoute = (view: View, surroundings: Pick<Surroundings, 'version' | 'refresh'>): Route => ({
  method: 'GET',
  path: '/api/stream',
  respond({ request, response, signal }) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    const changed = new Set<Kind | 'cluster'>();
    let timer: NodeJS.Timeout | undefined;
    const sendChanges = (): void => {
      timer = undefined;
      response.write(`id: ${view.revision}\nevent: changed\ndata: ${JSON.stringify([...changed])}\n\n`);
      changed.clear();
    };
    const announce = (kinds: Iterable<Kind | 'cluster'>): void => {
      for (const kind of kinds) changed.add(kind);
      timer ??= setTimeout(sendChanges, gatherMs);
    };
    const stopListening = view.onChange(announce);
    let seen = surroundings.version;
    let ended = false;
    const look = setInterval(async () => {
      await surroundings.refresh();
      if (ended || surroundings.version === seen) return;
      seen = surroundings.version;
      announce(['cluster']);
    }, lookEveryMs);
    const ping = setInterval(() => response.write(': still here\n\n'), pingEveryMs);
    response.write(`id: ${view.revision}\nevent: hello\ndata: {}\n\n`);
    const done = Promise.withResolvers<undefined>();
    const end = (): void => {
      stopListening();
      clearTimeout(timer);
      clearInterval(ping);
      clearInterval(look);
      ended = true;
      signal.removeEventListener('abort', end);
      response.end();
      done.resolve(undefined);
    };
    signal.addEventListener('abort', end);
    request.on('close', end);
    response.on('close', end);
    return done.promise;
  },
});
