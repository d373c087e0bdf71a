/** Time as the lab's machines see it. Timestamps are wall time; only durations are sped up. */
export interface Clock {
  /** Wall time in ms since the epoch. Never scaled, so that it can be compared with other programs' times. */
  now(): number;
  /** Runs `what` after `ms` of lab time; the returned function takes it back. Infinity = never. */
  after(ms: number, what: () => void): () => void;
}

const nothingToCancel = () => {};

/** `speed` 60 makes a 90 s boot take 1.5 s. */
export function realClock(speed = 1): Clock {
  return {
    now: Date.now,
    after(ms, what) {
      if (ms === Number.POSITIVE_INFINITY) return nothingToCancel;
      const timer = setTimeout(what, ms / speed);
      return () => clearTimeout(timer);
    },
  };
}

/** A clock that stands still until told: for tests and for replaying a day in a moment. */
export function manualClock(start = 0): Clock & { advance(ms: number): void } {
  let now = start;
  let waiting: { at: number; what: () => void }[] = [];
  return {
    now: () => now,
    after(ms, what) {
      const entry = { at: now + ms, what };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const next = waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        waiting = waiting.filter((other) => other !== next);
        now = next.at;
        next.what();
      }
      now = until;
    },
  };
}

/** Timers that end together, so that nothing outlives its owner. */
export function timerGroup(clock: Clock) {
  const pending = new Set<() => void>();
  return {
    after(ms: number, what: () => void): () => void {
      const cancel = () => {
        pending.delete(cancel);
        takeBack();
      };
      const takeBack = clock.after(ms, () => {
        pending.delete(cancel);
        what();
      });
      pending.add(cancel);
      return cancel;
    },
    cancelAll(): void {
      for (const cancel of [...pending]) cancel();
    },
  };
}
