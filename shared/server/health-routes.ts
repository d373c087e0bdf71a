import type { Metrics } from '../process/metrics.ts';
import type { HttpResponse } from './http-response.ts';
import type { Route } from './routes.ts';

export interface HealthOptions {
  readonly metrics: Metrics;
  /** Returns why it is not ready, or undefined. */
  readonly ready?: () => Promise<string | undefined>;
  /** Updates metrics that are read only when they are scraped. Never throws. */
  readonly collect?: (() => Promise<void>) | undefined;
}

/** Paths as Knative Functions has them. */
export function healthRoutes({ metrics, ready, collect }: HealthOptions, stopping: AbortSignal): Route[] {
  return [
    {
      method: 'GET',
      path: '/health/liveness',
      open: true,
      respond: async () => ({ status: 200, json: { alive: true } }),
    },
    {
      method: 'GET',
      path: '/health/readiness',
      open: true,
      respond: async () => readiness(stopping.aborted ? 'stopping' : await reason(ready)),
    },
    {
      method: 'GET',
      path: '/metrics',
      async respond() {
        await collect?.();
        return {
          status: 200,
          headers: { 'content-type': metrics.registry.contentType },
          body: await metrics.registry.metrics(),
        };
      },
    },
  ];
}

function readiness(why: string | undefined): HttpResponse {
  return why === undefined
    ? { status: 200, json: { ready: true } }
    : { status: 503, json: { ready: false, reason: why } };
}

async function reason(ready: HealthOptions['ready']): Promise<string | undefined> {
  try {
    return await ready?.();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
