import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, type HttpResponse } from './http-response.ts';

export type May = 'act' | 'read';

interface RouteContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Whether the caller may only read, or also act. */
  readonly may: May;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Exact, or ending in `*` for everything below. */
  readonly path: string;
  /** Served without a token; a function is evaluated for each request. */
  readonly open?: boolean | (() => Promise<boolean>);
  /** Undefined: the route has written the response itself. */
  respond(context: RouteContext): Promise<HttpResponse | undefined>;
}

/** The route for a request; HttpError 404 or 405, which list what there is. */
export function findRoute(routes: readonly Route[], method: string, path: string): Route {
  const there = routes.filter((route) => isAt(route, path));
  const wanted = method === 'HEAD' ? 'GET' : method;
  const route = there.find((one) => one.method === wanted);
  if (route) return route;
  const list = { routes: routes.map((one) => `${one.method} ${one.path}`) };
  if (there.length === 0) throw new HttpError(404, `nothing is at ${path}`, list);
  const allowed = [...new Set(there.map((one) => one.method))].join(', ');
  throw new HttpError(405, `${path} takes ${allowed}, not ${method}`, list, { allow: allowed });
}

/**
 * Whether a request is served without a token. For a method that the path does not have, its other methods
 * count.
 */
export async function isOpen(routes: readonly Route[], method: string, path: string): Promise<boolean> {
  const there = routes.filter((route) => isAt(route, path));
  const meant = there.filter((route) => route.method === (method === 'HEAD' ? 'GET' : method));
  for (const { open } of meant.length > 0 ? meant : there)
    if (typeof open === 'function' ? await open() : open) return true;
  return false;
}

function isAt(route: Route, path: string): boolean {
  return route.path.endsWith('*') ? path.startsWith(route.path.slice(0, -1)) : path === route.path;
}
