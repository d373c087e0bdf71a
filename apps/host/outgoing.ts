import type { Deps } from '../../functions/deps.ts';
import type { EventSink } from '../../shared/ports/events.ts';
import type { ProcessSettings } from '../../shared/process/settings.ts';
import { createHttpSink } from '../../shared/server/http-sink.ts';
import { sinkToken } from './serve-options.ts';

/** Where the events of one function go that has a process of its own: to K_SINK, as far as that answers. */
export function outgoing(
  settings: ProcessSettings,
  name: string,
  { clock, log }: Pick<Deps, 'clock' | 'log'>,
): { readonly sink: EventSink; close(): Promise<void> } {
  const { sink: url, ceOverrides, caCerts } = settings;
  if (url === undefined) {
    log.warn({}, 'K_SINK is not set: other functions hear of this one only at their next tick');
    return { sink: { emit: async () => undefined }, close: async () => undefined };
  }
  const http = createHttpSink({
    url,
    source: `/bamel/${name}`,
    clock,
    extensions: ceOverrides?.extensions,
    caCerts,
    token: sinkToken(settings),
  });
  return {
    sink: {
      async emit(event) {
        // The work is done and written down: a sink that is away must not make the caller repeat it.
        await http
          .emit(event)
          .catch((error: unknown) => log.warn({ err: error, type: event.type }, 'event not sent'));
      },
    },
    close: () => http.close(),
  };
}
