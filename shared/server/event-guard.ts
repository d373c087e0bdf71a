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

/** The event is too old, or from the future. */
export class StaleEvent extends HttpError {}

export interface EventGuard {
  /** Throws StaleEvent. An event without a time is accepted. */
  check(event: ReceivedEvent): void;
  /** Runs the work once per event and function. An event whose work failed may be sent again. */
  once(event: ReceivedEvent, work: () => Promise<Outcome>): Promise<Outcome>;
}

/** Tolerated clock difference. */
const futureMs = 300_000;

/** Refuses repeated and stale events of one function. */
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
      // The sender does not wait for the write: the work is done, and repeating it is harmless.
      if (outcome.kind === 'done') saving = saveId(id);
      return outcome;
    } catch (error) {
      // Every function needs the store.
      if (error instanceof StoreError) return retryLater(1_000, error.message);
      throw error;
    } finally {
      // Until the id is stored, the event counts as in progress.
      Promise.resolve(saving).then(() => inProgress.delete(id));
    }
  };

  const saveId = async (id: string): Promise<void> => {
    // Runs after the response is sent.
    await new Promise(setImmediate);
    await seen.add(id).catch((error: unknown) => {
      const level = error instanceof StoreError ? 'debug' : 'error';
      log[level]({ function: name, err: error }, 'event id not stored');
    });
  };

  return {
    check({ attributes: { time } }) {
      if (typeof time !== 'string') return;
      const ageMs = clock.now() - Date.parse(time);
      metrics?.eventLag.observe({ function: name }, Math.max(0, ageMs) / 1_000);
      const problem =
        ageMs > maxAgeMs
          ? `older than ${formatDuration(maxAgeMs)}: send it again, or set BAMEL_EVENT_MAX_AGE`
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

/** The id includes the function: one event may wake several. */
function idOf(name: string, { id, attributes: { source } }: ReceivedEvent): string {
  return createHash('sha256')
    .update(JSON.stringify([name, source, id]))
    .digest('base64url')
    .slice(0, 22);
}
