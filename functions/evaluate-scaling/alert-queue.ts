import { alertKey } from '../../shared/core/decide/signals/alert-book.ts';
import { type Alert, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import { done, type Outcome } from '../../shared/core/outcome.ts';
import { type PoolOfAlert, recordAlerts } from '../../shared/state/alerts.ts';
import type { Deps } from '../deps.ts';

/** Which pool an alert steers, by what the store says of pools and machines. */
async function poolsOfAlerts(
  { inventory }: Pick<Deps, 'inventory'>,
  alerts: readonly Alert[],
): Promise<PoolOfAlert> {
  if (!alerts.some(({ labels }) => labels.bamel_scale === 'up')) return () => undefined;
  const [pools, machines] = await Promise.all([inventory.pools(), inventory.machines()]);
  return (alert) => steeringOf(alert, pools, machines).pool;
}

/** Of a storm: more wake as well, but are not remembered. They come again. */
const maxQueued = 5_000;

/** Where alerts wait for the evaluation that they are looked at with. */
export interface AlertQueue {
  add(alerts: readonly Alert[]): void;
  /** Somebody wants an evaluation, whatever the alerts. */
  requestEvaluation(): void;
  /** Writes down what was handed in. False: there is no reason to evaluate. */
  flush(): Promise<boolean>;
  /** There was a reason, and nothing came of it: it still is one. */
  retry(): void;
}

/**
 * Twice the same alert, from whichever Alertmanager to whichever process, is one reason to look; that one is over is
 * none: a tick comes anyway, and nothing may happen because of it.
 */
export function createAlertQueue(deps: Pick<Deps, 'inventory' | 'clock'>): AlertQueue {
  const queued = new Map<string, Alert>();
  let requested = false;
  return {
    add(alerts) {
      for (const { status, labels, fingerprint, startsAt } of alerts) {
        const alert = { status, labels, fingerprint, startsAt };
        if (queued.size < maxQueued) queued.set(alertKey(alert), alert);
        else requested ||= status === 'firing';
      }
    },
    requestEvaluation() {
      requested = true;
    },
    async flush() {
      const alerts = [...queued.values()];
      queued.clear();
      // Now: who asks from here on is answered by the next evaluation.
      const due = requested;
      requested = false;
      if (alerts.length === 0) return due;
      const poolOf = await poolsOfAlerts(deps, alerts);
      return (await recordAlerts(deps.inventory.store, alerts, poolOf, deps.clock.now())) > 0 || due;
    },
    retry() {
      requested = true;
    },
  };
}

export const nothingNew = done({
  summary: 'nothing new: it was heard before, or is over',
});

/** Half of what Alertmanager waits before it calls it an error and sends everything again. */
const answerWithinMs = 5_000;

/** The answer in time; the work goes on if it takes longer. */
export async function respondInTime(
  work: Promise<Outcome>,
  { log }: Pick<Deps, 'log'>,
  withinMs = answerWithinMs,
): Promise<Outcome> {
  const late = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => {
    work.catch((error: unknown) => log.warn({ err: error }, 'evaluation for an alert failed'));
    late.resolve(done({ summary: 'heard; the evaluation takes longer than the sender waits, and goes on' }));
  }, withinMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
