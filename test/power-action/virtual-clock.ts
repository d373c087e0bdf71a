import type { Clock } from '../../shared/ports/clock.ts';

export interface VirtualClock extends Clock {
  pass(ms: number): void;
  /** Runs the work to its end; whenever everybody sleeps, time jumps to the next one who wakes. */
  run<Value>(work: Promise<Value>): Promise<Value>;
}

/** How many turns of the event loop make sure that nobody has anything left to do but sleep. */
const turns = 8;

export function createVirtualClock(): VirtualClock {
  let time = Date.UTC(2026, 0, 1);
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => time,
    monotonic: () => time,
    sleep(ms, signal) {
      if (signal?.aborted || ms <= 0) return Promise.resolve();
      return new Promise((resolve) => {
        const sleeper = {
          at: time + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake);
      });
    },
    pass(ms) {
      time += ms;
    },
    async run(work) {
      let running = true;
      const ended = work.finally(() => {
        running = false;
      });
      ended.catch(() => undefined);
      while (running) {
        for (let turn = 0; turn < turns && running; turn += 1) await new Promise(setImmediate);
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (!running || !next) continue;
        time = Math.max(time, next.at);
        next.wake();
      }
      return ended;
    },
  };
}
