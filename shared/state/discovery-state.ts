import type { Lease, Store } from '../ports/store.ts';
import type { SealedOffer } from '../schema/offer.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** State of discovery between two refreshes. */
export interface DiscoveryState {
  /** Time of the last refresh. */
  readonly at: number;
  /** Hash of the settings at that time. */
  readonly settings: string;
  /** The serial of the last publication, and its offers. */
  readonly serial: number;
  readonly published: readonly { readonly sealed: SealedOffer; readonly validUntil: number }[];
}

const nothing: DiscoveryState = { at: 0, settings: '', serial: 0, published: [] };

export async function readDiscovery(store: Store): Promise<DiscoveryState> {
  const entry = await store.get(keys.global('discovery'));
  return entry ? decode<DiscoveryState>(entry.key, entry.value) : nothing;
}

/** False: the lease is lost. */
export async function writeDiscovery(store: Store, state: DiscoveryState, lease: Lease): Promise<boolean> {
  const { committed } = await store.commit(
    [lease.fence],
    [{ put: keys.global('discovery'), value: encode(state) }],
  );
  return committed;
}
