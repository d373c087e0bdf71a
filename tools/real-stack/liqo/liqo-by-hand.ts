import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeConfig, type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node';
import { waitFor } from '../wait.ts';
import type { LiqoCluster } from './liqo-cluster.ts';

/** Any object, as a person sees it in YAML. */
export type Thing = KubernetesObject & {
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
  readonly data?: Record<string, string>;
};

const authentication = 'authentication.liqo.io/v1beta1';
const offloading = 'offloading.liqo.io/v1beta1';
const tenantOf = (peer: string): string => `liqo-tenant-${peer}`;

/** Reads and writes one cluster's objects, whatever their kind. */
export function handsOn(kubeConfig: KubeConfig) {
  const api = KubernetesObjectApi.makeApiClient(kubeConfig);
  const orGone = (error: { code?: number }): undefined => {
    if (error.code !== 404) throw error;
    return undefined;
  };
  const named = (apiVersion: string, kind: string, namespace: string, name: string) => ({
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }) },
  });
  return {
    create: (object: Thing & { stringData?: object }): Promise<Thing> => api.create(object),
    read: (apiVersion: string, kind: string, namespace: string, name: string): Promise<Thing | undefined> =>
      api.read<Thing>(named(apiVersion, kind, namespace, name)).catch(orGone),
    async remove(apiVersion: string, kind: string, namespace: string, name: string): Promise<void> {
      await api.delete(named(apiVersion, kind, namespace, name)).catch(orGone);
    },
    async names(apiVersion: string, kind: string, namespace?: string): Promise<string[]> {
      const { items } = await api.list<Thing>(apiVersion, kind, namespace);
      return items.map(({ metadata }) => metadata?.name ?? '').sort();
    },
    async patch(apiVersion: string, kind: string, namespace: string, name: string, spec: object) {
      const changed = { ...named(apiVersion, kind, namespace, name), spec };
      await api.patch(changed, undefined, undefined, undefined, undefined, 'application/merge-patch+json');
    },
  };
}

/** Steps 1 to 4 of Liqo's peering, without any kubeconfig handed over; once for each provider. */
export async function peerByHand(consumer: LiqoCluster, provider: LiqoCluster): Promise<void> {
  const ours = handsOn(consumer.plane.kubeConfig);
  const theirs = handsOn(provider.plane.kubeConfig);
  for (const [side, peer] of [
    [ours, provider.id],
    [theirs, consumer.id],
  ] as const)
    await side.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: tenantOf(peer),
        labels: { 'liqo.io/remote-cluster-id': peer, 'liqo.io/tenant-namespace': 'true' },
      },
    });
  const secret = (peer: string, name: string, label: string, nonce?: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: tenantOf(peer),
      labels: { [label]: 'true', 'liqo.io/remote-cluster-id': peer },
    },
    ...(nonce && { stringData: { nonce } }),
  });
  const filled = (side: typeof ours, peer: string, name: string, field: string) =>
    waitFor(`${field} in ${name}`, async () => {
      const found = await side.read('v1', 'Secret', tenantOf(peer), name);
      return found?.data?.[field];
    });
  await theirs.create(secret(consumer.id, 'liqo-nonce', 'liqo.io/nonce'));
  const nonce = Buffer.from(await filled(theirs, consumer.id, 'liqo-nonce', 'nonce'), 'base64').toString();
  await ours.create(secret(provider.id, 'liqo-signed-nonce', 'liqo.io/signed-nonce', nonce));
  const signature = await filled(ours, provider.id, 'liqo-signed-nonce', 'signedNonce');

  const keys = await ours.read('v1', 'Secret', 'liqo', 'authentication-keys');
  const { publicKey, csr } = requestOf(keys?.data?.privateKey ?? '', consumer.id);
  await theirs.create({
    apiVersion: authentication,
    kind: 'Tenant',
    metadata: { name: consumer.id, namespace: tenantOf(consumer.id) },
    spec: { clusterID: consumer.id, publicKey, csr, signature },
  });
  const { authParams, tenantNamespace } = await waitFor('the tenant taken in', async () => {
    const tenant = await theirs.read(authentication, 'Tenant', tenantOf(consumer.id), consumer.id);
    return tenant?.status?.authParams ? tenant.status : undefined;
  });
  await ours.create({
    apiVersion: authentication,
    kind: 'Identity',
    metadata: {
      name: `controlplane-${provider.id}`,
      namespace: tenantOf(provider.id),
      labels: { 'liqo.io/remote-cluster-id': provider.id },
    },
    spec: { clusterID: provider.id, type: 'ControlPlane', namespace: tenantNamespace, authParams },
  });
}

/** What the consumer's Liqo would ask with: Node reads and signs with Ed25519, but writes no PKCS #10. */
function requestOf(privateKey: string, clusterID: string): { publicKey: string; csr: string } {
  const pem = Buffer.from(privateKey, 'base64').toString();
  // Not by stdin: what Node.js pipes is a socket, which openssl cannot open.
  const folder = mkdtempSync(join(tmpdir(), 'bamel-request-'));
  const file = join(folder, 'key.pem');
  writeFileSync(file, pem, { mode: 0o600 });
  const csr = execFileSync('openssl', ['req', '-new', '-key', file, '-subj', `/O=liqo.io/CN=${clusterID}`]);
  rmSync(folder, { recursive: true });
  const raw = createPublicKey(createPrivateKey(pem)).export({ format: 'der', type: 'spki' }).subarray(-32);
  return { publicKey: raw.toString('base64'), csr: csr.toString('base64') };
}

/** Step 5: asks for a node of that name. */
export async function sliceByHand(
  consumer: LiqoCluster,
  provider: string,
  name: string,
  resources: Record<string, string>,
): Promise<void> {
  await handsOn(consumer.plane.kubeConfig).create({
    apiVersion: authentication,
    kind: 'ResourceSlice',
    metadata: {
      name,
      namespace: tenantOf(provider),
      annotations: { 'liqo.io/create-virtual-node': 'true' },
      labels: {
        'liqo.io/remote-cluster-id': provider,
        'liqo.io/remoteID': provider,
        'liqo.io/replication': 'true',
      },
    },
    spec: { class: 'default', providerClusterID: provider, resources },
  });
}

/** Pods of that namespace may go to other clusters. */
export async function offload(consumer: LiqoCluster, namespace: string): Promise<void> {
  const hands = handsOn(consumer.plane.kubeConfig);
  await hands.create({
    apiVersion: offloading,
    kind: 'NamespaceOffloading',
    metadata: { name: 'offloading', namespace },
    spec: {
      podOffloadingStrategy: 'LocalAndRemote',
      namespaceMappingStrategy: 'DefaultName',
      // Without an empty list here Liqo's own update of it is refused, and nothing ever happens.
      clusterSelector: { nodeSelectorTerms: [] },
    },
  });
  // Its webhook sees only pods of namespaces that carry this label.
  await waitFor(`${namespace} offloaded`, async () => {
    const found = await hands.read('v1', 'Namespace', '', namespace);
    return found?.metadata?.labels?.['liqo.io/scheduling-enabled'];
  });
}

/** All that speaks of slices, on both sides: empty when everything was given back. */
export async function whatIsBorrowed(consumer: LiqoCluster, provider: LiqoCluster): Promise<string[]> {
  const ours = handsOn(consumer.plane.kubeConfig);
  const theirs = handsOn(provider.plane.kubeConfig);
  const [slices, nodes, lent, shadows] = await Promise.all([
    ours.names(authentication, 'ResourceSlice', tenantOf(provider.id)),
    ours.names(offloading, 'VirtualNode', tenantOf(provider.id)),
    theirs.names(authentication, 'ResourceSlice', tenantOf(consumer.id)),
    theirs.names(offloading, 'ShadowPod'),
  ]);
  return [
    ...slices.map((name) => `slice ${name}`),
    ...nodes.map((name) => `virtual node ${name}`),
    ...lent.map((name) => `slice ${name} at ${provider.id}`),
    ...shadows.map((name) => `pod ${name} at ${provider.id}`),
  ];
}

/** As an administrator would after a mishap: no slice is left, nor what came of it. */
export async function clearSlices(consumer: LiqoCluster, providers: readonly LiqoCluster[]): Promise<void> {
  const hands = handsOn(consumer.plane.kubeConfig);
  for (const { id } of providers)
    for (const name of await hands.names(authentication, 'ResourceSlice', tenantOf(id)))
      await hands.remove(authentication, 'ResourceSlice', tenantOf(id), name);
  await waitFor(
    'no slice left',
    async () => {
      const left = await Promise.all(providers.map((provider) => whatIsBorrowed(consumer, provider)));
      return left.flat().length === 0 || undefined;
    },
    { timeoutMs: 120_000 },
  );
}
