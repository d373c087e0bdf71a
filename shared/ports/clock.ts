export interface Clock {
  /** Milliseconds since the epoch, for what is written down and compared across processes. */
  now(): number;
  /** Milliseconds that only ever go forward, for how long something took in this process. */
  monotonic(): number;
  /** Resolves early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
