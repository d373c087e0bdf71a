import { type Outcome, rejected } from '../core/outcome.ts';
import type { Clock } from '../ports/clock.ts';
import type { BamelEvent, DeadLetter, EventSink } from '../ports/events.ts';
import { newId } from '../process/ids.ts';
import type { Log } from '../process/log.ts';
import type { Metrics } from '../process/metrics.ts';
import { describeProblem } from '../schema/zod-issue.ts';
import { wakingPattern } from './event-type.ts';
import type { ServedFunction } from './function.ts';
import { parseEventInput } from './input.ts';
import { invoke } from './invoke.ts';

export interface LocalSinkOptions {
  readonly functions: readonly ServedFunction[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly deadLetters: { add(letter: DeadLetter): Promise<void> };
  /** As in a Knative broker: the first pause is doubled each time, up to the maximum. */
  readonly retry?: { readonly tries: number; readonly firstMs: number; readonly maxMs: number };
  /** Events waiting per function, retries included. */
  readonly queueLimit?: number;
  /** Invocations at a time per function. */
  readonly concurrency?: number;
}

export interface LocalSink extends EventSink {
  /** Resolves once nothing is queued, waiting for a retry or being handled. */
  idle(): Promise<void>;
  /** Stops accepting events, aborts functions and waits for running ones; queued events are dropped. */
  close(patienceMs?: number): Promise<void>;
}

interface Delivery {
  event: BamelEvent;
  id: string;
  tries: number;
}

/** The queued events of one function. Maps keep their insertion order. */
interface FunctionQueue {
  readonly to: ServedFunction;
  readonly queued: Map<string, Delivery>;
  readonly pausing: Map<string, { readonly delivery: Delivery; readonly wake: AbortController }>;
  running: number;
  overflowing: boolean;
}

/** Delivers events between functions of one process: at least once, unordered. */
export function createLocalSink({
  functions,
  clock,
  log,
  metrics,
  deadLetters,
  retry = { tries: 10, firstMs: 200, maxMs: 30_000 },
  queueLimit = 10_000,
  concurrency = 64,
}: LocalSinkOptions): LocalSink {
  const stopping = new AbortController();
  const lastProblems = new Map<string, string>();
  const waiters = new Set<() => void>();
  const lanes = functions.map(
    (to): FunctionQueue => ({ to, queued: new Map(), pausing: new Map(), running: 0, overflowing: false }),
  );

  function accept(lane: FunctionQueue, event: BamelEvent): void {
    const key = `${event.type} ${event.subject}`;
    const same = lane.queued.get(key) ?? lane.pausing.get(key)?.delivery;
    if (same) {
      // Events are wake-ups, so one is enough; the later one replaces the earlier and ends its pause.
      Object.assign(same, { event, tries: 0 });
      lane.pausing.get(key)?.wake.abort();
      return;
    }
    if (lane.queued.size + lane.pausing.size >= queueLimit) {
      overflow(lane, event);
      return;
    }
    lane.overflowing = false;
    enqueue(lane, key, { event, id: newId('ev', clock.now()), tries: 0 });
  }

  function overflow(lane: FunctionQueue, event: BamelEvent): void {
    const name = lane.to.definition.name;
    metrics?.eventsDead.inc({ function: name, reason: 'overflow' });
    // Not stored as dead letters: that would add load to an overloaded process.
    if (!lane.overflowing)
      log.warn(
        { function: name, type: event.type, queueLimit },
        'queue is full: dropping events, the next tick makes up for them',
      );
    lane.overflowing = true;
  }

  function enqueue(lane: FunctionQueue, key: string, delivery: Delivery): void {
    lane.queued.set(key, delivery);
    // Not in the caller's stack; other I/O runs in between.
    setImmediate(() => startNext(lane));
  }

  function startNext(lane: FunctionQueue): void {
    const [next] = lane.queued;
    if (!next || lane.running >= concurrency || stopping.signal.aborted) {
      settle();
      return;
    }
    const [key, delivery] = next;
    lane.queued.delete(key);
    lane.running += 1;
    deliver(lane, key, delivery)
      .catch((error: unknown) =>
        log.error(
          { err: error, function: lane.to.definition.name, id: delivery.id },
          'dead letter not stored',
        ),
      )
      .finally(() => {
        lane.running -= 1;
        startNext(lane);
      });
  }

  async function deliver(lane: FunctionQueue, key: string, delivery: Delivery): Promise<void> {
    delivery.tries += 1;
    const { event, tries } = delivery;
    const outcome = await handle(lane.to, delivery);
    if (outcome.kind === 'done') return;
    if (outcome.kind === 'rejected') return addDeadLetter(lane, event, tries, 'rejected', outcome.why);
    if (tries >= retry.tries) return addDeadLetter(lane, event, tries, 'exhausted', outcome.why);
    if (lane.queued.has(key) || lane.pausing.has(key) || stopping.signal.aborted) return;
    pause(
      lane,
      key,
      delivery,
      Math.max(outcome.afterMs, Math.min(retry.firstMs * 2 ** (tries - 1), retry.maxMs)),
    );
  }

  async function handle(to: ServedFunction, { event, id }: Delivery): Promise<Outcome> {
    const parsed = parseEventInput(to.definition, event);
    if (!parsed.ok) return rejected(parsed.problems.map(describeProblem).join('; '));
    return invoke(
      to,
      parsed.input,
      { trigger: event.type, id, signal: stopping.signal },
      { log, metrics, lastProblems },
    );
  }

  function pause(lane: FunctionQueue, key: string, delivery: Delivery, ms: number): void {
    const wake = new AbortController();
    lane.pausing.set(key, { delivery, wake });
    void clock.sleep(ms, AbortSignal.any([wake.signal, stopping.signal])).then(() => {
      lane.pausing.delete(key);
      if (stopping.signal.aborted) settle();
      else enqueue(lane, key, delivery);
    });
  }

  async function addDeadLetter(
    lane: FunctionQueue,
    event: BamelEvent,
    tries: number,
    reason: string,
    why: string,
  ): Promise<void> {
    const name = lane.to.definition.name;
    metrics?.eventsDead.inc({ function: name, reason });
    log.warn(
      { function: name, type: event.type, subject: event.subject, tries, reason, why },
      'event undeliverable',
    );
    await deadLetters.add({ event, function: name, tries, lastError: why, at: clock.now() });
  }

  function busy(): boolean {
    const waiting = ({ queued, pausing }: FunctionQueue) =>
      !stopping.signal.aborted && queued.size + pausing.size > 0;
    return lanes.some((lane) => lane.running > 0 || waiting(lane));
  }

  function settle(): void {
    if (busy()) return;
    for (const resolve of waiters) resolve();
    waiters.clear();
  }

  async function idle(): Promise<void> {
    if (busy()) await new Promise<void>((resolve) => waiters.add(resolve));
  }

  return {
    async emit(event) {
      if (stopping.signal.aborted) return log.debug({ type: event.type }, 'stopping: event dropped');
      for (const lane of lanes)
        if (wakingPattern(lane.to.definition.wakesOn, event.type)) accept(lane, event);
    },
    idle,
    async close(patienceMs = 25_000) {
      stopping.abort();
      const enough = new AbortController();
      await Promise.race([idle(), clock.sleep(patienceMs, enough.signal)]);
      enough.abort();
      if (busy()) log.warn({ patienceMs }, 'functions are still running: not waiting any longer');
    },
  };
}
