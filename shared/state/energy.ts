import { addEnergy, type Energy } from '../core/energy/energy-saved.ts';
import type { Machine } from '../core/machine/machine.ts';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** Limits the number of revisions in the store. */
const everyMs = 60_000;

export async function readEnergy(store: Store): Promise<Energy | undefined> {
  const entry = await store.get(keys.global('energy'));
  return entry && decode<Energy>(entry.key, entry.value);
}

/**
 * Reads the energy account now and returns a function that adds to it. The evaluation lease makes its holder
 * the only writer.
 */
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
