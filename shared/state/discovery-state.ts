import type { Lease, Store } from '../ports/store.ts';
import type { SealedOffer } from '../schema/offer.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** What discovery remembers between two looks. */
export interface DiscoveryState {
  /** When everything was last read and published. */
  readonly at: number;
  /** What the settings were then. */
  readonly settings: string;
  /** The number of our last publication, and what it was. */
  readonly serial: number;
  readonly published: readonly { readonly sealed: SealedOffer; readonly validUntil: number }[];
}

const nothing: DiscoveryState = { at: 0, settings: '', serial: 0, published: [] };

export async function readDiscovery(store: Store): Promise<DiscoveryState> {
  const entry = await store.get(keys.global('discovery'));
  return entry ? decode<DiscoveryState>(entry.key, entry.value) : nothing;
}

/** False: the lease is somebody else's now. */
export async function writeDiscovery(store: Store, state: DiscoveryState, lease: Lease): Promise<boolean> {
  const { committed } = await store.commit(
    [lease.fence],
    [{ put: keys.global('discovery'), value: encode(state) }],
  );
  return committed;
}
