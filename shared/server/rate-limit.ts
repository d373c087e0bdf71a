export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** More callers than this are not told apart: the one that was longest silent is forgotten. */
const maxCallers = 10_000;

/**
 * Counts what each caller may still do. Answers how many seconds one that has used it up is to wait; undefined:
 * it may go on.
 */
export function createRateLimit(
  { perSecond, burst }: RateLimit,
  monotonic: () => number = () => performance.now(),
): (caller: string) => number | undefined {
  const buckets = new Map<string, Bucket>();
  return (caller) => {
    const now = monotonic();
    const before = buckets.get(caller) ?? { left: burst, at: now };
    const left = Math.min(burst, before.left + ((now - before.at) / 1_000) * perSecond);
    // Put last again: maps keep their order.
    buckets.delete(caller);
    buckets.set(caller, { left: left < 1 ? left : left - 1, at: now });
    const [silent] = buckets.keys();
    if (buckets.size > maxCallers && silent !== undefined) buckets.delete(silent);
    return left < 1 ? Math.max(1, Math.ceil((1 - left) / perSecond)) : undefined;
  };
}
