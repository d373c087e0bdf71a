import type { Trigger } from '../core/settings.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** On which side of its threshold a trigger was found, and since when. */
export interface TriggerTime {
  readonly pool: string;
  readonly trigger: string;
  readonly threshold: number;
  readonly beyond: boolean;
  readonly since: number;
  /** When that was last seen, to about `seenEveryMs`. */
  readonly at: number;
}

const key = keys.global('triggers');

/** Not written down more often, while nothing changes. */
const seenEveryMs = 60_000;

/** After so long without a number nobody knows what it did meanwhile: the duration begins anew. */
export const maxGapMs = 300_000;

export interface TriggerTimes {
  readonly times: readonly TriggerTime[];
  readonly revision: number;
}

export async function readTriggerTimes(store: Store): Promise<TriggerTimes> {
  const entry = await store.get(key);
  if (!entry) return { times: [], revision: 0 };
  return { times: decode<{ times: TriggerTime[] }>(key, entry.value).times, revision: entry.revision };
}

/** Since when a trigger has been on the side of its threshold that this value is on. */
export function updateTriggerTime(
  pool: string,
  { name, threshold, scaleDirection }: Trigger,
  value: number,
  known: readonly TriggerTime[],
  now: number,
): TriggerTime {
  const beyond = scaleDirection === 'up' ? value > threshold : value < threshold;
  const before = known.find((one) => one.pool === pool && one.trigger === name);
  const same = before?.beyond === beyond && before.threshold === threshold && now - before.at <= maxGapMs;
  return { pool, trigger: name, threshold, beyond, since: same ? before.since : now, at: now };
}

/** Writes down what is news. Lost to somebody else's write it is made good by the next evaluation. */
export async function writeTriggerTimes(
  store: Store,
  { times, revision }: TriggerTimes,
  now: readonly TriggerTime[],
  lease: Lease,
): Promise<void> {
  const isNews = (one: TriggerTime): boolean => {
    const before = times.find(({ pool, trigger }) => pool === one.pool && trigger === one.trigger);
    return before?.since !== one.since || before.beyond !== one.beyond || one.at - before.at >= seenEveryMs;
  };
  if (now.length === times.length && !now.some(isNews)) return;
  await store.commit([lease.fence, { key, revision }], [{ put: key, value: encode({ times: now }) }]);
}
