import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until `probe` gives a value. A throwing probe counts as "not yet" and is told about when time is up.
 */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  { timeoutMs = 60_000, everyMs = 50 } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown = 'the condition was not met';
  do {
    try {
      const value = await probe();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    await sleep(everyMs);
  } while (performance.now() < deadline);
  throw new Error(`${what}: not within ${timeoutMs / 1000} s (last: ${last})`, { cause: last });
}
