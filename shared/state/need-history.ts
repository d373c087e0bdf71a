import { addNeed, type NeedHistory } from '../core/forecast/need-history.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

export async function readNeeds(store: Store, pool: string): Promise<NeedHistory | undefined> {
  const entry = await store.get(keys.needs(pool));
  return entry && decode<NeedHistory>(entry.key, entry.value);
}

/** Keeps what pools need: written where a step is new or its largest need grew, so a few times in ten minutes. */
export function createNeedRecorder(
  store: Store,
): (needs: ReadonlyMap<string, number>, lease: Lease, now: number) => Promise<void> {
  const known = new Map<string, NeedHistory>();
  const save = async (pool: string, need: number, lease: Lease, now: number): Promise<void> => {
    const last = known.get(pool);
    // Equal where neither the step nor its largest need changed.
    if (last && addNeed(last, now, need) === last) return;
    const key = keys.needs(pool);
    const entry = await store.get(key);
    const history = addNeed(entry && decode<NeedHistory>(key, entry.value), now, need);
    await store.commit(
      [lease.fence, { key, revision: entry?.revision ?? 0 }],
      [{ put: key, value: encode(history) }],
    );
    known.set(pool, history);
  };
  return async (needs, lease, now) => {
    for (const [pool, need] of needs) await save(pool, need, lease, now);
  };
}
