import type { PressureCategory } from '../shared/core/decide/snapshot.ts';
import type { Clock } from '../shared/ports/clock.ts';
import type { Log } from '../shared/process/log.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';

export interface OutboxOptions {
  /** Rejects when it is not taken. */
  readonly send: (report: PressureReport) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two events of one category. */
  readonly gapMs?: number;
  readonly sent?: (report: PressureReport) => void;
  readonly failed?: () => void;
}

export interface Outbox {
  /** Never waits, and never holds more than one report per category: only the newest still matters. */
  put(report: PressureReport): void;
  /** Reports that wait to be sent. */
  readonly waiting: number;
  /** Resolves once the current event is sent or has failed; queued events are dropped. */
  close(): Promise<void>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Sends reports one at a time, again and again until they are taken or a newer one replaces them. */
export function createOutbox({ send, clock, log, gapMs = 1_000, sent, failed }: OutboxOptions): Outbox {
  const waiting = new Map<PressureCategory, PressureReport>();
  const sentAt = new Map<PressureCategory, number>();
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  let failures = 0;

  const pauseFor = (category: PressureCategory): number =>
    Math.max(0, (sentAt.get(category) ?? Number.NEGATIVE_INFINITY) + gapMs - clock.monotonic());

  async function sendOne(category: PressureCategory, report: PressureReport): Promise<void> {
    sentAt.set(category, clock.monotonic());
    try {
      await send(report);
      failures = 0;
      if (waiting.get(category) === report) waiting.delete(category);
      sent?.(report);
    } catch (error) {
      failed?.();
      if (failures === 0) log.warn({ err: error }, 'pressure is not reported: the sink does not accept it');
      failures += 1;
      await clock.sleep(Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs), stopping.signal);
    }
  }

  async function work(): Promise<void> {
    while (waiting.size > 0 && !stopping.signal.aborted) {
      const [next] = [...waiting].sort(([a], [b]) => pauseFor(a) - pauseFor(b));
      if (!next) return;
      const pause = pauseFor(next[0]);
      if (pause > 0) await clock.sleep(pause, stopping.signal);
      const report = waiting.get(next[0]);
      if (report && !stopping.signal.aborted) await sendOne(next[0], report);
    }
  }

  function start(): void {
    if (working || waiting.size === 0 || stopping.signal.aborted) return;
    working = work().finally(() => {
      working = undefined;
      // Events added since the last check.
      start();
    });
  }

  return {
    put(report) {
      if (stopping.signal.aborted) return;
      waiting.set(report.category, report);
      start();
    },
    get waiting() {
      return waiting.size;
    },
    async close() {
      stopping.abort();
      await working;
    },
  };
}
