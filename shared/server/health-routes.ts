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

/** Kubernetes gives a probe one second. */
const answerWithinMs = 700;

/** Paths as Knative Functions has them. */
export function healthRoutes({ metrics, ready, collect }: HealthOptions, stopping: AbortSignal): Route[] {
  const check = reasonInTime(ready);
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
      respond: async () => readiness(stopping.aborted ? 'stopping' : await check()),
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

/** A name that does not resolve or a store that is silent must not hold the answer up. Probes share one check. */
function reasonInTime(ready: HealthOptions['ready']): () => Promise<string | undefined> {
  let underWay: Promise<string | undefined> | undefined;
  /** Of the last check that ended: it says more than that the next one hangs, too. */
  let lastProblem: string | undefined;
  return async () => {
    underWay ??= reason(ready).then((problem) => {
      underWay = undefined;
      lastProblem = problem;
      return problem;
    });
    const late = Promise.withResolvers<string>();
    const timer = setTimeout(
      late.resolve,
      answerWithinMs,
      lastProblem ?? `no result of the check within ${answerWithinMs} ms`,
    );
    try {
      return await Promise.race([underWay, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

async function reason(ready: HealthOptions['ready']): Promise<string | undefined> {
  try {
    return await ready?.();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
