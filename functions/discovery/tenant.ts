import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KubeObject, KubeObjects } from '../../shared/ports/kubernetes-objects.ts';
import { PeeringError } from './peering-error.ts';

/** Sent by a consumer: all base64, as in Liqo's Tenant. */
export interface Exchange {
  readonly clusterID: string;
  readonly publicKey: string;
  readonly csr: string;
  readonly signature: string;
}

/** Returned to a consumer: the API server, and the certificate for its key. */
export interface Identity {
  readonly tenantNamespace: string;
  readonly authParams: {
    readonly apiServer: string;
    readonly ca?: string | undefined;
    readonly signedCRT: string;
  };
}

export interface PeeringContext {
  readonly objects: KubeObjects;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const pollEveryMs = 200;
/** A certificate that is valid for this much longer is not renewed. */
const minValidityMs = 3_600_000;
/** Timeouts. Liqo needs well under a second for each when idle. */
const patienceMs = { nonce: 10_000, tenant: 20_000, gone: 20_000, renewed: 2_000 };

export const namespaceOf = (peer: string): string => `liqo-tenant-${peer}`;

const pathsOf = (peer: string) => {
  const namespace = `/api/v1/namespaces/${namespaceOf(peer)}`;
  return {
    namespace,
    nonce: `${namespace}/secrets/liqo-nonce`,
    tenant: `/apis/authentication.liqo.io/v1beta1/namespaces/${namespaceOf(peer)}/tenants/${peer}`,
  };
};

const labelsOf = (peer: string) => ({ 'liqo.io/remote-cluster-id': peer });

/** Polls until a value is found. Undefined: timeout. */
async function waitFor<Value>(
  { clock, signal }: PeeringContext,
  ms: number,
  poll: (waitedMs: number) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const began = clock.monotonic();
  for (;;) {
    const waited = clock.monotonic() - began;
    const found = await poll(waited);
    if (found !== undefined || waited >= ms || signal.aborted) return found;
    await clock.sleep(pollEveryMs, signal);
  }
}

const nonceIn = (secret: KubeObject | undefined): string | undefined => {
  const { nonce } = z.object({ nonce: z.string().min(1) }).safeParse(secret?.data).data ?? {};
  return nonce && Buffer.from(nonce, 'base64').toString('utf8');
};

/** The nonce that the peer has not signed yet; undefined: none. */
export const readLiqoNonce = async (
  { objects, signal }: PeeringContext,
  peer: string,
): Promise<string | undefined> => nonceIn(await objects.get(pathsOf(peer).nonce, signal));

/** Makes Liqo create a new nonce and discards the old one. */
export async function renewLiqoNonce(cluster: PeeringContext, peer: string): Promise<string> {
  const { objects, signal } = cluster;
  const paths = pathsOf(peer);
  await ensureNamespace(cluster, peer);
  await objects.remove(paths.nonce, signal);
  await objects.ensure(
    paths.nonce,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'liqo-nonce',
        namespace: namespaceOf(peer),
        labels: { ...labelsOf(peer), 'liqo.io/nonce': 'true' },
      },
    },
    signal,
  );
  const nonce = await waitFor(cluster, patienceMs.nonce, () => readLiqoNonce(cluster, peer));
  if (nonce !== undefined) return nonce;
  throw new PeeringError('unavailable', "the provider's Liqo made no nonce in time: try again", 10);
}

async function ensureNamespace({ objects, signal }: PeeringContext, peer: string): Promise<void> {
  const labels = { ...labelsOf(peer), 'liqo.io/tenant-namespace': 'true' };
  const name = namespaceOf(peer);
  const { metadata } = await objects.ensure(
    pathsOf(peer).namespace,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
    signal,
  );
  if (metadata.deletionTimestamp !== undefined)
    throw new PeeringError('unavailable', 'what was there of an earlier peering is still being removed', 10);
  // The namespace was created for another purpose.
  if (Object.entries(labels).some(([key, value]) => metadata.labels?.[key] !== value))
    throw new PeeringError('unavailable', `the provider's namespace ${name} is not one of Liqo's`);
}

const Spec = z.object({ publicKey: z.string().optional(), tenantCondition: z.string().optional() });
const Status = z.object({
  tenantNamespace: z.string().min(1),
  authParams: z.object({
    apiServer: z.string().min(1),
    ca: z.string().optional(),
    signedCRT: z.string().min(1),
  }),
});

/** Creates a tenant for the peer, with the certificate that Liqo signs. */
export async function createTenant(
  cluster: PeeringContext,
  { clusterID, ...exchange }: Exchange,
): Promise<Identity> {
  const { objects, signal } = cluster;
  const { tenant: path } = pathsOf(clusterID);
  const before = await objects.get(path, signal);
  const { publicKey, tenantCondition } = Spec.safeParse(before?.spec).data ?? {};
  if (tenantCondition === 'Drained')
    throw new PeeringError('drained', `the provider has drained ${clusterID}: ask its people`);
  const isOfOldKey = before !== undefined && publicKey !== exchange.publicKey;
  if (isOfOldKey) await removeTenant(cluster, path);
  const there = before && !isOfOldKey ? before : undefined;
  if (there) await objects.patch(path, { spec: exchange }, signal);
  else
    await objects.ensure(
      path,
      {
        apiVersion: 'authentication.liqo.io/v1beta1',
        kind: 'Tenant',
        metadata: { name: clusterID, namespace: namespaceOf(clusterID), labels: labelsOf(clusterID) },
        spec: { clusterID, ...exchange },
      },
      signal,
    );
  const known = Status.safeParse(there?.status).data?.authParams.signedCRT;
  // Liqo returns the same certificate for the same request until it expires.
  const renewedMs =
    known === undefined || isValidForLong(known, cluster.clock.now()) ? 0 : patienceMs.renewed;
  const identity = await waitFor(cluster, patienceMs.tenant, async (waitedMs) => {
    const { data } = Status.safeParse((await objects.get(path, signal))?.status);
    return data?.authParams.signedCRT === known && waitedMs < renewedMs ? undefined : data;
  });
  if (identity) return identity;
  throw new PeeringError('unavailable', "the provider's Liqo did not sign in time: send the same again", 10);
}

/** False also if it cannot be parsed. */
function isValidForLong(signedCRT: string, now: number): boolean {
  try {
    return new X509Certificate(Buffer.from(signedCRT, 'base64')).validToDate.getTime() > now + minValidityMs;
  } catch {
    return false;
  }
}

/** A replaced key may have been stolen: its access is revoked. */
async function removeTenant(cluster: PeeringContext, path: string): Promise<void> {
  const { objects, signal } = cluster;
  await objects.remove(path, signal);
  const gone = await waitFor(cluster, patienceMs.gone, async () =>
    (await objects.get(path, signal)) ? undefined : true,
  );
  if (!gone)
    throw new PeeringError('unavailable', 'what was there of an earlier key is still being removed', 10);
}
