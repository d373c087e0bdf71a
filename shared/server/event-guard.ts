import { createHash } from 'node:crypto';
import { done, type Outcome, retryLater } from '../core/outcome.ts';
import type { Clock } from '../ports/clock.ts';
import type { SeenEvents } from '../ports/events.ts';
import { StoreError } from '../ports/store.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { formatDuration } from '../schema/duration.ts';
import type { ReceivedEvent } from './cloud-event.ts';
import { HttpError } from './http-response.ts';

export interface EventGuardOptions {
  readonly maxAgeMs: number;
  readonly seen: SeenEvents;
  readonly clock: Pick<Clock, 'now'>;
}

/** An event's time is not to be believed, or it is too late for it. */
export class StaleEvent extends HttpError {}

export interface EventGuard {
  /** Throws StaleEvent. What has no time is as good as new. */
  check(event: ReceivedEvent): void;
  /** Does the work unless this function has done it for the same event. What did not end well may be sent again. */
  once(event: ReceivedEvent, work: () => Promise<Outcome>): Promise<Outcome>;
}

/** Clocks differ: an event may come from a future this far away. */
const futureMs = 300_000;

/** Against events that are sent again, by a mishap or on purpose, for one function. */
export function createEventGuard(
  name: string,
  { maxAgeMs, seen, clock }: EventGuardOptions,
  { log, metrics }: { readonly log: Log; readonly metrics?: Metrics | undefined },
): EventGuard {
  const inProgress = new Map<string, Promise<Outcome>>();

  const handle = async (id: string, work: () => Promise<Outcome>): Promise<Outcome> => {
    let saving: Promise<void> | undefined;
    try {
      if (await seen.has(id)) {
        metrics?.eventsRepeated.inc({ function: name });
        return done(undefined);
      }
      const outcome = await work();
      // The sender does not wait for it: the work is done, and to do it twice would be harmless.
      if (outcome.kind === 'done') saving = saveId(id);
      return outcome;
    } catch (error) {
      // Whatever the work is, it needs the store as well.
      if (error instanceof StoreError) return retryLater(1_000, error.message);
      throw error;
    } finally {
      // Until then it is known here by being under way.
      Promise.resolve(saving).then(() => inProgress.delete(id));
    }
  };

  const saveId = async (id: string): Promise<void> => {
    // The answer is on its way by then.
    await new Promise(setImmediate);
    await seen.add(id).catch((error: unknown) => {
      const level = error instanceof StoreError ? 'debug' : 'error';
      log[level]({ function: name, err: error }, 'event not remembered');
    });
  };

  return {
    check({ attributes: { time } }) {
      if (typeof time !== 'string') return;
      const ageMs = clock.now() - Date.parse(time);
      metrics?.eventLag.observe({ function: name }, Math.max(0, ageMs) / 1_000);
      const problem =
        ageMs > maxAgeMs
          ? `older than ${formatDuration(maxAgeMs)}: send it anew, or set BAMEL_EVENT_MAX_AGE`
          : ageMs < -futureMs
            ? `more than ${formatDuration(futureMs)} in the future: check the sender's clock`
            : undefined;
      if (problem) throw new StaleEvent(400, `CloudEvent time: ${time} is ${problem}`, { attribute: 'time' });
    },
    async once(event, work) {
      const id = idOf(name, event);
      const before = inProgress.get(id);
      if (before) {
        metrics?.eventsRepeated.inc({ function: name });
        return before;
      }
      const outcome = handle(id, work);
      inProgress.set(id, outcome);
      return outcome;
    },
  };
}

/** Several functions are woken by one event, and each must be. */
function idOf(name: string, { id, attributes: { source } }: ReceivedEvent): string {
  return createHash('sha256')
    .update(JSON.stringify([name, source, id]))
    .digest('base64url')
    .slice(0, 22);
}
