import {
  addSample,
  emptyTrend,
  type Sample,
  type Tier,
  type Trend,
  tierNames,
  tiers,
} from '../core/energy/trend.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** A tier by columns: names are stored once, a number costs two to five bytes. */
interface Packed {
  readonly at: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
}

const keyOf = (tier: Tier): string => keys.global(`trend-${tier}`);

function pack(samples: readonly Sample[]): Packed {
  const names = new Set(samples.flatMap(({ values }) => Object.keys(values)));
  return {
    at: samples.map(({ at }) => at),
    columns: Object.fromEntries(
      [...names].map((name) => [name, samples.map(({ values }) => values[name] ?? null)]),
    ),
  };
}

const unpack = ({ at, columns }: Packed): Sample[] =>
  at.map((time, index) => ({
    at: time,
    values: Object.fromEntries(
      Object.entries(columns).flatMap(([name, values]) => {
        const value = values[index] ?? null;
        return value === null ? [] : [[name, value]];
      }),
    ),
  }));

async function read(store: Store): Promise<{ readonly trend: Trend; readonly revision: number }> {
  const entries = await Promise.all(tierNames.map((tier) => store.get(keyOf(tier))));
  const trend: Record<Tier, readonly Sample[]> = { ...emptyTrend };
  for (const [index, tier] of tierNames.entries()) {
    const entry = entries[index];
    if (entry) trend[tier] = unpack(decode<Packed>(entry.key, entry.value));
  }
  return { trend, revision: entries[0]?.revision ?? 0 };
}

export const readTrend = async (store: Store): Promise<Trend> => (await read(store)).trend;

/** Adds a sample once a minute. One writer at a time: the holder of the lease of evaluations. */
export function createTrendWriter(
  store: Store,
): (sample: (since: number) => Sample, lease: Lease, now: number) => Promise<void> {
  let last = 0;
  return async (sample, lease, now) => {
    if (now - last < tiers.minute.everyMs) return;
    const { trend, revision } = await read(store);
    // Another instance may have written meanwhile.
    last = trend.minute.at(-1)?.at ?? 0;
    if (now - last < tiers.minute.everyMs) return;
    const added = addSample(trend, sample(last));
    const changed = tierNames.filter((tier) => added[tier] !== trend[tier]);
    await store.commit(
      [lease.fence, { key: keyOf('minute'), revision }],
      changed.map((tier) => ({ put: keyOf(tier), value: encode(pack(added[tier])) })),
    );
    last = now;
  };
}
