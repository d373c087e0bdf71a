import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { retryLater } from '../core/outcome.ts';
import { newId } from '../process/ids.ts';
import type { Log } from '../process/log.ts';
import { type AuthorizeOptions, type Authorizer, createAuthorizer } from './authorize.ts';
import { createEventGuard, type EventGuardOptions } from './event-guard.ts';
import type { ServedFunction } from './function.ts';
import { functionRoute } from './function-route.ts';
import { type HealthOptions, healthRoutes } from './health-routes.ts';
import { jsonResponse } from './http-outcome.ts';
import { HttpError, type HttpResponse, renderResponse } from './http-response.ts';
import { listen } from './listen.ts';
import { refusalReason } from './refusal-reason.ts';
import { RequestAborted } from './request-body.ts';
import { findRoute, isOpen, type Route } from './routes.ts';
import { send } from './send.ts';
import type { TlsFiles } from './tls-files.ts';

export interface ServeOptions extends Omit<AuthorizeOptions, 'certificates'>, HealthOptions {
  readonly port: number;
  readonly tls?: TlsFiles | undefined;
  /** Serves health and metrics on a second port too, in plain HTTP and without authentication. */
  readonly healthPort?: number | undefined;
  /** Deduplication and age limit of events; neither by default. */
  readonly events?: EventGuardOptions | undefined;
  /** Additional routes: a console, an API. */
  readonly routes?: readonly Route[];
  readonly bodyLimit?: number;
  readonly maxDepth?: number;
  readonly timeouts?: Partial<typeof defaultTimeouts>;
}

const defaultTimeouts = {
  headersMs: 10_000,
  bodyMs: 10_000,
  /**
   * Longer than Go's HTTP clients keep a connection, so that the server does not close one that is being
   * used.
   */
  keepAliveMs: 120_000,
  /** How long `close` waits for requests in progress: less than the 30 s of Kubernetes and Knative. */
  closeMs: 25_000,
};

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly healthUrl?: string | undefined;
  /** Stops accepting requests, aborts functions and waits for requests in progress. */
  close(): Promise<void>;
}

export async function serve(
  functions: readonly ServedFunction[],
  options: ServeOptions,
): Promise<RunningServer> {
  const { host, port, log, metrics, events, tls, bodyLimit = 2 * 2 ** 20, maxDepth = 64 } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const authorize = await createAuthorizer({ ...options, certificates: tls?.ca !== undefined });
  const stopping = new AbortController();
  const inProgress = new Set<Promise<void>>();

  const functionOptions = {
    log,
    metrics,
    lastProblems: new Map<string, string>(),
    maxDepth,
    body: { bytes: bodyLimit, timeoutMs: timeouts.bodyMs },
  };
  const [only] = functions.length === 1 ? functions : [];
  const route = (one: ServedFunction, path: string): Route => {
    const { name, takesAnyEvent } = one.definition;
    // Dead letters are old, and arrive once per function.
    const guard = events && !takesAnyEvent ? createEventGuard(name, events, { log, metrics }) : undefined;
    return functionRoute(one, path, { ...functionOptions, guard });
  };
  const health = healthRoutes(options, stopping.signal);
  const routes: Route[] = [
    ...functions.map((one) => route(one, `/${one.definition.name}`)),
    ...(only ? [route(only, '/')] : []),
    ...health,
    ...(options.routes ?? []),
  ];

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    there: readonly Route[],
    checkCaller: Authorizer,
  ): Promise<HttpResponse | undefined> {
    const path = request.url?.split('?', 1)[0] ?? '/';
    const isFree = await isOpen(there, request.method ?? '', path);
    const may = isFree ? 'read' : await checkCaller(request);
    const context = { request, response, signal: stopping.signal, may };
    const answered = await findRoute(there, request.method ?? '', path).respond(context);
    return answered && renderResponse(answered);
  }

  function answerError(error: unknown): HttpResponse | undefined {
    if (error instanceof RequestAborted) return undefined;
    if (!(error instanceof HttpError)) return internalError(error, log);
    metrics.requestsRefused.inc({ reason: refusalReason(error) });
    return error.answer;
  }

  const listener =
    (there: readonly Route[], checkCaller: Authorizer): RequestListener =>
    (request, response) => {
      const respond = async (): Promise<void> => {
        const answered = await answer(request, response, there, checkCaller).catch(answerError);
        if (answered) await send(request, response, answered, stopping.signal.aborted);
      };
      const work = respond()
        .catch((error: unknown) => {
          log.error({ err: error }, 'request not answered');
          response.destroy();
        })
        .finally(() => inProgress.delete(work));
      inProgress.add(work);
    };

  const main = await listen({ host, port, tls, timeouts, log }, listener(routes, authorize));
  const healthPort =
    options.healthPort === undefined
      ? undefined
      : await listen(
          { host, port: options.healthPort, timeouts, log },
          listener(health, async () => 'read'),
        );
  const listening = healthPort ? [main, healthPort] : [main];

  async function close(): Promise<void> {
    stopping.abort();
    const stopped = listening.map((one) => one.stop());
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, timeouts.closeMs);
    await Promise.race([Promise.allSettled(inProgress), late.promise]);
    clearTimeout(timer);
    if (inProgress.size > 0)
      log.warn({ requests: inProgress.size }, 'requests are still under way: closing anyway');
    for (const one of listening) one.closeAllConnections();
    await Promise.all(stopped);
  }

  let closing: Promise<void> | undefined;
  return {
    url: main.url,
    port: main.port,
    healthUrl: healthPort?.url,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function internalError(error: unknown, log: Log): HttpResponse {
  const id = newId('req');
  log.error({ err: error, id }, 'request failed unexpectedly: this is a bug');
  return jsonResponse(retryLater(1_000, `internal error, look for id ${id} in the log`));
}
