import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { discovery } from './discovery.ts';
import type { KubeObject } from './objects.ts';
import { openapi } from './openapi.ts';
import { list, selection, watch } from './reads.ts';
import { representationFor } from './representation.ts';
import { mediaTypeOf, parseBody, readBody, type Target, targetOf } from './request.ts';
import { methodNotAllowed, StatusError, unknownPath } from './status-error.ts';
import type { Store } from './store.ts';
import { subresource } from './subresources.ts';
import { Watches } from './watch.ts';
import { create, deleteOptions, patch, remove, update } from './writes.ts';

export interface ServerOptions {
  readonly port: number;
  readonly token: string | undefined;
  readonly bookmarkMs: number;
  readonly log: (message: string, fields: object) => void;
}

function sendJson(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(text);
}

function sendError(response: ServerResponse, error: StatusError): void {
  const retryAfter = error.details?.retryAfterSeconds;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  // The rest of a body that is too large is not waited for.
  if (error.code === 413) response.setHeader('connection', 'close');
  sendJson(response, error.code, JSON.stringify(error.body()));
}

const health = new Set(['/healthz', '/livez', '/readyz']);
const isTrue = (text: string | null) => text === 'true' || text === '1';

class Handler {
  readonly #store: Store;
  readonly #watches: Watches;
  readonly #token: string | undefined;

  constructor(store: Store, watches: Watches, token: string | undefined) {
    this.#store = store;
    this.#watches = watches;
    this.#token = token;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://lab');
    const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
    if (health.has(path)) {
      response.end('ok');
      return;
    }
    if (this.#token !== undefined && request.headers.authorization !== `Bearer ${this.#token}`)
      throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    const { types } = this.#store;
    const about = request.method === 'GET' ? (discovery(types, path) ?? openapi(types, path)) : undefined;
    if (about) {
      sendJson(response, 200, JSON.stringify(about));
      return;
    }
    const target = targetOf(types, path);
    if (target.subresource !== undefined && target.subresource !== 'status')
      await this.#subresource(request, response, target, query);
    else if (request.method === 'GET') this.#read(request, response, target, query);
    else await this.#write(request, response, target, query);
  }

  #read(request: IncomingMessage, response: ServerResponse, target: Target, query: URLSearchParams): void {
    const store = this.#store;
    const representation = representationFor(target.type, request.headers.accept, store.clock.now);
    if (isTrue(query.get('watch'))) watch(store, this.#watches, target, query, representation, response);
    else if (target.name === undefined) list(store, target, query, representation, response);
    else {
      const object = store.find(store.types.stored(target.type), target.namespace, target.name);
      sendJson(response, 200, representation.one(object));
    }
  }

  async #write(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    query: URLSearchParams,
  ): Promise<void> {
    const store = this.#store;
    const { type, name, namespace } = target;
    if (target.subresource === 'status' && !type.status) throw unknownPath();
    const text = await readBody(request);
    const mediaType = mediaTypeOf(request);
    const body = () => (text ? parseBody(text, mediaType) : undefined);
    const representation = representationFor(type, request.headers.accept, store.clock.now);
    const attempt = <R>(work: () => R) => this.#attempt(query, work);
    const write = (work: () => { code: number; object: KubeObject }) => {
      const { code, object } = attempt(work);
      sendJson(response, code, representation.one(object));
    };
    const method = `${request.method} ${name === undefined ? 'all' : 'one'}`;
    if (method === 'POST all' && type.namespaced && namespace === undefined) throw methodNotAllowed();
    if (method === 'POST all') write(() => create(store, target, body()));
    else if (method === 'PUT one') write(() => update(store, target, body()));
    else if (method === 'PATCH one') write(() => patch(store, target, mediaType, text));
    else if (method === 'DELETE one')
      sendJson(response, 200, JSON.stringify(attempt(() => remove(store, target, query, body()))));
    else if (method === 'DELETE all') {
      const matches = selection(target, query);
      const stored = store.types.stored(type);
      const chosen = [...store.list(stored, namespace)].filter(matches);
      const options = deleteOptions(query, body());
      attempt(() => {
        for (const { metadata } of chosen) store.delete(stored, metadata.namespace, metadata.name, options);
      });
      sendJson(
        response,
        200,
        [...representation.list(chosen, { resourceVersion: `${store.version}` })].join(''),
      );
    } else throw methodNotAllowed();
  }

  #attempt<R>(query: URLSearchParams, work: () => R): R {
    return query.get('dryRun') === 'All' ? this.#store.dryRun(work) : work();
  }

  async #subresource(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    query: URLSearchParams,
  ): Promise<void> {
    const text = await readBody(request);
    const mediaType = mediaTypeOf(request);
    const call = {
      method: request.method ?? '',
      target,
      mediaType,
      body: () => parseBody(text, mediaType.endsWith('+json') ? 'application/json' : mediaType),
    };
    const answer = this.#attempt(query, () => subresource(this.#store, call));
    if (typeof answer.body === 'object') {
      sendJson(response, answer.code, JSON.stringify(answer.body));
      return;
    }
    response.writeHead(answer.code, { 'content-type': 'text/plain' });
    response.end(answer.body);
  }
}

export async function serve(
  store: Store,
  options: ServerOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const watches = new Watches(store, options.bookmarkMs);
  const handler = new Handler(store, watches, options.token);
  const server = createServer((request, response) => {
    handler.handle(request, response).catch((error: unknown) => {
      const known = error instanceof StatusError;
      if (!known) options.log('request failed', { method: request.method, url: request.url, error });
      if (response.headersSent) response.destroy();
      else
        sendError(
          response,
          known ? error : new StatusError(500, 'InternalError', `Internal error occurred: ${error}`, {}),
        );
    });
  });
  // Watches stay silent for long, and clients keep connections.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      watches.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
