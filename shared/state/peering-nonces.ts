import { createHash } from 'node:crypto';
import type { Lease, Store } from '../ports/store.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** The nonce that a peer was given last. */
export interface NonceRecord {
  /** SHA-256 of it: the nonce itself stays in the cluster. */
  readonly hash: string;
  readonly at: number;
  /** When an exchange with it succeeded: it is good for no other. */
  readonly usedAt?: number | undefined;
}

export const nonceLifetimeMs = 600_000;

export const hashOf = (nonce: string): string => createHash('sha256').update(nonce).digest('hex');

export async function readNonce(store: Store, cluster: string): Promise<NonceRecord | undefined> {
  const entry = await store.get(keys.peeringNonce(cluster));
  return entry && decode<NonceRecord>(entry.key, entry.value);
}

/** Under the lease of the peer's exchange. False: it was lost meanwhile. */
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
