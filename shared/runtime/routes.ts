import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, HttpError } from './http-answer.ts';

interface RouteContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts when the server is told to stop. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Exact, or ending in `*` for everything below. */
  readonly path: string;
  /** Answered without a token. */
  readonly open?: boolean;
  /** Without an answer it has written the response itself. */
  respond(context: RouteContext): Promise<Answer | undefined>;
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

/** Whether a path is answered without a token. */
export function isOpen(routes: readonly Route[], path: string): boolean {
  return routes.some((route) => route.open && isAt(route, path));
}

function isAt(route: Route, path: string): boolean {
  return route.path.endsWith('*') ? path.startsWith(route.path.slice(0, -1)) : path === route.path;
}
