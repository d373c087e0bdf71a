import type { Trigger } from '../core/settings.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** The side of its threshold that a trigger is on, and since when. */
export interface TriggerTime {
  readonly pool: string;
  readonly trigger: string;
  readonly threshold: number;
  readonly beyond: boolean;
  readonly since: number;
  /** Time of the last observation, to about `seenEveryMs`. */
  readonly at: number;
}

const key = keys.global('triggers');

/** Minimum interval between writes while nothing changes. */
const seenEveryMs = 60_000;

/** After a gap this long the value in between is unknown: the duration starts again. */
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

/** The side of the threshold for this value, and since when. */
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

/** Stores changes. If a concurrent write wins, the next evaluation stores them. */
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
