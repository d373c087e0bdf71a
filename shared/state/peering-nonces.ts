import { createHash } from 'node:crypto';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** The last nonce of a peer. */
export interface NonceRecord {
  /** SHA-256 of the nonce, which itself stays in the cluster. */
  readonly hash: string;
  readonly at: number;
  /** Time of the successful exchange: a nonce is valid for one. */
  readonly usedAt?: number | undefined;
}

export const nonceLifetimeMs = 600_000;

export const hashOf = (nonce: string): string => createHash('sha256').update(nonce).digest('hex');

export async function readNonce(store: Store, cluster: string): Promise<NonceRecord | undefined> {
  const entry = await store.get(keys.peeringNonce(cluster));
  return entry && decode<NonceRecord>(entry.key, entry.value);
}

/** Requires the lease of the peer's exchange. False: the lease is lost. */
export async function writeNonce(
  store: Store,
  cluster: string,
  record: NonceRecord,
  lease: Lease,
): Promise<boolean> {
  const key = keys.peeringNonce(cluster);
  const { committed } = await store.commit([lease.fence], [{ put: key, value: encode(record) }]);
  return committed;
}
