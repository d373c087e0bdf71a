import type { PeerCluster } from '../../shared/core/remote/remote-settings.ts';
import { isSignedBy } from '../../shared/crypto/ed25519.ts';
import { PowerError } from '../../shared/ports/power.ts';
import type { Lease } from '../../shared/ports/store.ts';
import { underLease } from '../../shared/state/leases.ts';
import { writeAudit } from '../../shared/state/peering-audit.ts';
import { hashOf, nonceLifetimeMs, readNonce, writeNonce } from '../../shared/state/peering-nonces.ts';
import type { Deps } from '../deps.ts';
import { PeeringError } from './peering-error.ts';
import {
  createTenant,
  type Exchange,
  type Identity,
  namespaceOf,
  type PeeringContext,
  readLiqoNonce,
  renewLiqoNonce,
} from './tenant.ts';

/** The caller: its address, for the audit. */
export interface Requester {
  readonly address: string;
  readonly signal: AbortSignal;
}

export type PeeringDeps = Pick<
  Deps,
  'inventory' | 'cluster' | 'objects' | 'clock' | 'log' | 'metrics' | 'owner'
>;

const leaseTtlMs = 15_000;
const patienceMs = 20_000;

/**
 * The provider's side of peering: issues a nonce, and for its signature a certificate. No secret is sent
 * either way.
 */
export function createPeering(deps: PeeringDeps) {
  const { inventory, clock } = deps;
  const { store } = inventory;

  const peerOf = async (clusterID: string): Promise<PeerCluster> => {
    const { remote } = await inventory.settings();
    const peer = remote.peers.find((one) => one.clusterID === clusterID);
    if (!peer) throw new PeeringError('unknown-peer', `${clusterID} is not in the provider's remote.peers`);
    if (peer.validUntil !== undefined && clock.now() >= peer.validUntil)
      throw new PeeringError(
        'expired-peer',
        `${clusterID} was a peer until ${new Date(peer.validUntil).toISOString()}`,
      );
    return peer;
  };

  /** Runs one exchange per peer at a time, across all instances. */
  const underPeerLease = async <Value>(
    clusterID: string,
    signal: AbortSignal,
    work: (cluster: PeeringContext, lease: Lease) => Promise<Value>,
  ): Promise<Value> => {
    const { objects } = deps;
    if (!objects) throw new PeeringError('unavailable', 'the provider has no cluster to make tenants in');
    const done = await underLease(
      deps,
      `peering-${clusterID}`,
      leaseTtlMs,
      { ms: patienceMs, signal },
      async (lease) => ({
        value: await work({ objects, clock, signal: AbortSignal.any([signal, lease.lost]) }, lease),
      }),
    );
    if (!done) throw new PeeringError('unavailable', `another exchange of ${clusterID} is under way`, 5);
    return done.value;
  };

  const saveNonce = async (clusterID: string, hash: string, lease: Lease, used: boolean): Promise<void> => {
    const now = clock.now();
    const before = used ? await readNonce(store, clusterID) : undefined;
    const record = { hash, at: before?.at ?? now, ...(used && { usedAt: now }) };
    if (!(await writeNonce(store, clusterID, record, lease)))
      throw new PeeringError('unavailable', 'another instance took over: try again', 5);
  };

  /** Returns the same nonce until it is used: a request cannot invalidate the exchange of another. */
  const issueNonce = (clusterID: string, signal: AbortSignal): Promise<{ nonce: string }> =>
    underPeerLease(clusterID, signal, async (cluster, lease) => {
      const record = await readNonce(store, clusterID);
      if (record && record.usedAt === undefined && clock.now() - record.at < nonceLifetimeMs) {
        const nonce = await readLiqoNonce(cluster, clusterID);
        if (nonce !== undefined && hashOf(nonce) === record.hash) return { nonce };
      }
      const nonce = await renewLiqoNonce(cluster, clusterID);
      await saveNonce(clusterID, hashOf(nonce), lease, false);
      return { nonce };
    });

  const exchange = (peer: PeerCluster, given: Exchange, signal: AbortSignal): Promise<Identity> =>
    underPeerLease(peer.clusterID, signal, async (cluster, lease) => {
      const { clusterID } = peer;
      const record = await readNonce(store, clusterID);
      if (!record) throw new PeeringError('no-nonce', 'no nonce was given to this peer: ask for one first');
      if (record.usedAt !== undefined)
        throw new PeeringError('replayed', 'this nonce was used already: ask for another one');
      if (clock.now() - record.at >= nonceLifetimeMs)
        throw new PeeringError('expired-nonce', 'this nonce is older than 10 minutes: ask for another one');
      const nonce = await readLiqoNonce(cluster, clusterID);
      if (nonce === undefined || hashOf(nonce) !== record.hash)
        throw new PeeringError('no-nonce', 'the nonce was replaced meanwhile: ask for another one');
      await verifyExchange(peer, given, nonce);
      const identity = await createTenant(cluster, given);
      await saveNonce(clusterID, record.hash, lease, true);
      return identity;
    });

  /** Counts, logs and audits the result. */
  const audited = async <Value>(
    what: 'nonce' | 'exchange',
    who: string,
    { address }: Requester,
    work: () => Promise<Value>,
  ): Promise<Value> => {
    const recordResult = async (result: string, why?: string): Promise<void> => {
      deps.metrics?.peeringRequests.inc({ what, outcome: result });
      const fields = { step: 'peering', what, peer: who, address, result, why };
      if (result === 'accepted') deps.log.info(fields, 'peering request accepted');
      else deps.log.warn(fields, 'peering request refused');
      await writeAudit(store, { at: clock.now(), what, who, from: address, result, why });
    };
    try {
      const value = await work();
      await recordResult('accepted');
      return value;
    } catch (error) {
      if (error instanceof PeeringError) await recordResult(error.result, error.message);
      if (!(error instanceof PowerError)) throw error;
      // Errors of our API server are not shown to the peer.
      deps.log.warn({ err: error, peer: who }, 'the cluster did not do what a peering needs');
      await recordResult('unavailable', error.message);
      throw new PeeringError('unavailable', 'the provider cannot do that just now', 10);
    }
  };

  const tell = (peer: string, type: 'Normal' | 'Warning', text: string): Promise<void> =>
    deps.cluster.recordEvent(
      { kind: 'Namespace', name: namespaceOf(peer) },
      type,
      type === 'Normal' ? 'PeeringAccepted' : 'PeeringRefused',
      `bamel: ${text}`,
    );

  return {
    nonce: (clusterID: string, requester: Requester): Promise<{ nonce: string }> =>
      audited('nonce', clusterID, requester, async () => {
        await peerOf(clusterID);
        return issueNonce(clusterID, requester.signal);
      }),
    exchange: (given: Exchange, asker: Requester): Promise<Identity> =>
      audited('exchange', given.clusterID, asker, async () => {
        const peer = await peerOf(given.clusterID);
        if (given.publicKey !== peer.publicKey)
          throw new PeeringError(
            'wrong-key',
            `${peer.clusterID} has another key in the provider's remote.peers`,
          );
        try {
          const identity = await exchange(peer, given, asker.signal);
          await tell(peer.clusterID, 'Normal', `${peer.clusterID} at ${asker.address} is a tenant`);
          return identity;
        } catch (error) {
          if (error instanceof PeeringError && error.result !== 'unavailable')
            await tell(peer.clusterID, 'Warning', `an exchange from ${asker.address}: ${error.message}`);
          throw error;
        }
      }),
  };
}

/** Checks what Liqo checks too: Liqo would not report the problem. */
async function verifyExchange(
  { clusterID, publicKey }: PeerCluster,
  given: Exchange,
  nonce: string,
): Promise<void> {
  if (!isSignedBy(publicKey, nonce, Buffer.from(given.signature, 'base64')))
    throw new PeeringError('bad-signature', `the nonce is not signed with the key of ${clusterID}`);
  // Loaded at the first exchange: its ASN.1 packages would slow every start.
  const { csrProblem } = await import('../../shared/crypto/csr.ts');
  const problem = csrProblem(Buffer.from(given.csr, 'base64').toString('utf8'), {
    commonName: clusterID,
    organization: 'liqo.io',
    publicKey,
  });
  if (problem !== undefined) throw new PeeringError('bad-request', `the certificate request: ${problem}`);
}
