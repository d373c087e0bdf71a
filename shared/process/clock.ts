import type { Clock } from '../ports/clock.ts';

/** Node.js fires longer timers at once. */
const maxTimerMs = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal?.aborted; left -= maxTimerMs)
      await timer(Math.min(left, maxTimerMs), signal);
  },
};

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timeout = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
  });
}
