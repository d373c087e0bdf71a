const dayMs = 86_400_000;

/** A running mean and spread of one number per slot of a day or of a week. Recent values count most. */
export interface Slots {
  /** Undefined until the slot has a value. */
  mean(at: number): number | undefined;
  deviation(at: number): number;
  add(at: number, value: number): void;
}

/** `days` is 1 for slots of a day and 7 for slots of a week; times are UTC. */
export function createSlots(days: 1 | 7, slotMs: number, rate: number): Slots {
  const size = Math.ceil((days * dayMs) / slotMs);
  const means = new Float64Array(size);
  const spreads = new Float64Array(size);
  const counts = new Int32Array(size);
  const slotOf = (at: number): number => Math.floor((at % (days * dayMs)) / slotMs);
  return {
    mean: (at) => ((counts[slotOf(at)] ?? 0) > 0 ? means[slotOf(at)] : undefined),
    deviation: (at) => Math.sqrt(spreads[slotOf(at)] ?? 0),
    add(at, value) {
      const slot = slotOf(at);
      const seen = (counts[slot] ?? 0) + 1;
      counts[slot] = seen;
      // The first values are averaged: a single one is no season.
      const weight = Math.max(rate, 1 / seen);
      const miss = value - (means[slot] ?? 0);
      means[slot] = (means[slot] ?? 0) + weight * miss;
      spreads[slot] = (1 - weight) * ((spreads[slot] ?? 0) + weight * miss * miss);
    },
  };
}
