import { addEnergy, type Energy } from '../core/energy/energy-saved.ts';
import type { Machine } from '../core/machine/machine.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** Often enough to be right, seldom enough not to fill the store's history. */
const everyMs = 60_000;

export async function readEnergy(store: Store): Promise<Energy | undefined> {
  const entry = await store.get(keys.global('energy'));
  return entry && decode<Energy>(entry.key, entry.value);
}

/** Adds to the account of watts, as it is now. One writer at a time: whoever holds the lease of evaluations. */
export async function openEnergy(
  store: Store,
): Promise<(machines: readonly Machine[], lease: Lease, now: number) => Promise<void>> {
  const key = keys.global('energy');
  const entry = await store.get(key);
  const before = entry && decode<Energy>(key, entry.value);
  return async (machines, lease, now) => {
    if (before && now - before.at < everyMs) return;
    await store.commit(
      [lease.fence, { key, revision: entry?.revision ?? 0 }],
      [{ put: key, value: encode(addEnergy(before, machines, now)) }],
    );
  };
}
