export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  left: number;
  at: number;
}

/** Maximum number of tracked callers: the one that was silent longest is dropped. */
const maxCallers = 10_000;

/** A token bucket per caller. Returns the seconds to wait if it is empty; undefined: proceed. */
export function createRateLimit(
  { perSecond, burst }: RateLimit,
  monotonic: () => number = () => performance.now(),
): (caller: string) => number | undefined {
  const buckets = new Map<string, Bucket>();
  return (caller) => {
    const now = monotonic();
    const before = buckets.get(caller) ?? { left: burst, at: now };
    const left = Math.min(burst, before.left + ((now - before.at) / 1_000) * perSecond);
    // Moved to the end: maps keep their insertion order.
    buckets.delete(caller);
    buckets.set(caller, { left: left < 1 ? left : left - 1, at: now });
    const [silent] = buckets.keys();
    if (buckets.size > maxCallers && silent !== undefined) buckets.delete(silent);
    return left < 1 ? Math.max(1, Math.ceil((1 - left) / perSecond)) : undefined;
  };
}
