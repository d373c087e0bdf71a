import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { retryLater } from '../core/outcome.ts';
import { checkCallers, type TokenSource } from './callers.ts';
import type { ServedFunction } from './function.ts';
import { functionRoute } from './function-route.ts';
import { healthRoutes } from './health-routes.ts';
import { type Answer, HttpError, rendered } from './http-answer.ts';
import { jsonAnswer } from './http-outcome.ts';
import { newId } from './ids.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { RequestAborted } from './request-body.ts';
import { findRoute, isOpen, type Route } from './routes.ts';
import { send } from './send.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: TokenSource | undefined;
  /** Listen beyond loopback without a token. */
  readonly insecure?: boolean | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Why it is not ready, or nothing. */
  readonly ready?: () => Promise<string | undefined>;
  /** More than the functions: a console, an API. */
  readonly routes?: readonly Route[];
  readonly bodyLimit?: number;
  readonly maxDepth?: number;
  readonly timeouts?: Partial<typeof defaultTimeouts>;
}

const defaultTimeouts = {
  headersMs: 10_000,
  bodyMs: 10_000,
  /** Longer than Go's HTTP clients keep a connection, so that it is never us who closes one just being used. */
  keepAliveMs: 120_000,
  /** How long `close` waits for requests under way: less than the 30 s that Kubernetes and Knative give. */
  closeMs: 25_000,
};

export interface Served {
  readonly url: string;
  readonly port: number;
  /** Accepts no more, tells functions to stop, waits for the requests under way. */
  close(): Promise<void>;
}

export async function serve(functions: readonly ServedFunction[], options: ServeOptions): Promise<Served> {
  const { host, port, log, metrics, bodyLimit = 2 * 2 ** 20, maxDepth = 64 } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const checkCaller = await checkCallers(options);
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  const functionOptions = {
    log,
    metrics,
    told: new Map<string, string>(),
    maxDepth,
    body: { bytes: bodyLimit, timeoutMs: timeouts.bodyMs },
  };
  const [only] = functions.length === 1 ? functions : [];
  const routes: Route[] = [
    ...functions.map((one) => functionRoute(one, `/${one.definition.name}`, functionOptions)),
    ...(only ? [functionRoute(only, '/', functionOptions)] : []),
    ...healthRoutes(options, stopping.signal),
    ...(options.routes ?? []),
  ];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> {
    const path = request.url?.split('?', 1)[0] ?? '/';
    const context = { request, response, signal: stopping.signal };
    if (!isOpen(routes, path)) await checkCaller(request);
    const answered = await findRoute(routes, request.method ?? '', path).respond(context);
    return answered && rendered(answered);
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answered = await answer(request, response).catch((error: unknown) => answerError(error, log));
    if (answered) await send(request, response, answered, stopping.signal.aborted);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const work = respond(request, response)
      .catch((error: unknown) => {
        log.error({ err: error }, 'request not answered');
        response.destroy();
      })
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }

  const server = createServer({
    headersTimeout: timeouts.headersMs,
    // Ours answers a slow body first, this one only ends what is left.
    requestTimeout: timeouts.headersMs + 2 * timeouts.bodyMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs),
  });
  server.on('request', onRequest);
  // A sender that asks before it sends a large body is refused before it does.
  server.on('checkContinue', onRequest);
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;

  async function close(): Promise<void> {
    stopping.abort();
    const closed = once(server, 'close');
    server.close();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, timeouts.closeMs);
    await Promise.race([Promise.allSettled(underWay), late.promise]);
    clearTimeout(timer);
    if (underWay.size > 0)
      log.warn({ requests: underWay.size }, 'requests are still under way: closing anyway');
    server.closeAllConnections();
    await closed;
  }

  const { port: actualPort, address, family } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`,
    port: actualPort,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function answerError(error: unknown, log: Log): Answer | undefined {
  if (error instanceof HttpError) return error.answer;
  if (error instanceof RequestAborted) return undefined;
  const id = newId('req');
  log.error({ err: error, id }, 'request failed unexpectedly: this is a bug');
  return jsonAnswer(retryLater(1_000, `internal error, look for id ${id} in the log`));
}
