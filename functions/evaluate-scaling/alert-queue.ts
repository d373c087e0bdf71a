import { alertKey } from '../../shared/core/decide/signals/alert-book.ts';
import { type Alert, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import { done, type Outcome } from '../../shared/core/outcome.ts';
import { type PoolOfAlert, recordAlerts } from '../../shared/state/alerts.ts';
import type { Deps } from '../deps.ts';

/** Maps alerts to pools, by the pools and machines in the store. */
async function poolsOfAlerts(
  { inventory }: Pick<Deps, 'inventory'>,
  alerts: readonly Alert[],
): Promise<PoolOfAlert> {
  if (!alerts.some(({ labels }) => labels.bamel_scale === 'up')) return () => undefined;
  const [pools, machines] = await Promise.all([inventory.pools(), inventory.machines()]);
  return (alert) => steeringOf(alert, pools, machines).pool;
}

/**
 * Limit for storms: further alerts start an evaluation too, but are not stored. Alertmanager repeats them.
 */
const maxQueued = 5_000;

/** Alerts that wait for the next evaluation. */
export interface AlertQueue {
  add(alerts: readonly Alert[]): void;
  /** Requests an evaluation regardless of alerts. */
  requestEvaluation(): void;
  /** Stores the queued alerts. False: there is no reason to evaluate. */
  flush(): Promise<boolean>;
  /** The evaluation failed: the request stays open. */
  retry(): void;
}

/**
 * A repeated alert, from any Alertmanager to any process, is one reason to evaluate. A resolved alert is
 * none: the next tick evaluates, and a resolved alert must not trigger an action.
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
      // Read now: later requests belong to the next evaluation.
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

/** Half of Alertmanager's timeout, after which it sends everything again. */
const answerWithinMs = 5_000;

/** Responds within the time limit; the work continues if it takes longer. */
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
