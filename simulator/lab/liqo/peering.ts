import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Change } from '../api/history.ts';
import { namespaces, type ResourceType } from '../api/resource-types.ts';
import type { Store } from '../api/store.ts';
import type { timerGroup } from '../rack/clock.ts';
import { type Provider, signedBy } from './provider.ts';
import {
  type ForeignCluster,
  foreignClusters,
  identities,
  liqoNames,
  type Secret,
  type Tenant,
  tenants,
} from './types.ts';

export interface PeeringContext {
  readonly store: Store;
  readonly timers: ReturnType<typeof timerGroup>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly reactMs: number;
  readonly errorAfterMs: number;
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const decoded = (text = '') => Buffer.from(text, 'base64').toString();

export const tenantNamespaceOf = (cluster: string) => `liqo-tenant-${cluster}`;

/** Liqo at start: its namespace, the cluster's id and its keys, as the chart and the controller leave them. */
export function installLiqo(store: Store, clusterID: string): KeyObject {
  const secrets = secretsOf(store);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  store.create(namespaces, { metadata: { name: 'liqo' } });
  const configMaps = store.types.at('', 'v1', 'configmaps');
  const clusterId = { name: 'liqo-clusterid-configmap', namespace: 'liqo' };
  const app = { 'app.kubernetes.io/name': 'clusterid-configmap' };
  if (configMaps)
    store.create(configMaps, {
      metadata: { ...clusterId, labels: app },
      data: { CLUSTER_ID: clusterID },
    } as object as Secret);
  store.create(secrets, {
    metadata: { name: 'authentication-keys', namespace: 'liqo' },
    data: {
      privateKey: base64(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      publicKey: base64(publicKey.export({ type: 'spki', format: 'pem' })),
    },
  });
  return privateKey;
}

function secretsOf(store: Store): ResourceType<Secret> {
  const type = store.types.at('', 'v1', 'secrets');
  if (!type) throw new Error('the lab serves no Secrets');
  return type as ResourceType<Secret>;
}

/** Nonces are filled and signed, Tenants answered, and a ForeignCluster stands for everybody peered with. */
export function followPeering(context: PeeringContext, privateKey: KeyObject): (change: Change) => void {
  const { store, timers, reactMs } = context;
  const secrets = secretsOf(store);
  const fill = (secret: Secret, field: string, value: string) =>
    timers.after(reactMs, () =>
      store.modify(secrets, secret, (current) => ({ ...current, data: { ...current.data, [field]: value } })),
    );

  /** In the tenant namespace of its peer, or nobody looks at it. */
  const inPlace = (
    { metadata: { labels = {}, namespace = '' } }: Secret | Tenant,
    peer: string | undefined,
  ) =>
    peer !== undefined &&
    store.get(namespaces, undefined, namespace)?.metadata.labels?.[liqoNames.remoteCluster] === peer &&
    (labels[liqoNames.remoteCluster] ?? peer) === peer;

  const onSecret = (secret: Secret) => {
    const { labels = {} } = secret.metadata;
    if (!inPlace(secret, labels[liqoNames.remoteCluster])) return;
    const { nonce, signedNonce } = secret.data ?? {};
    if (labels[liqoNames.nonce] === 'true' && !nonce)
      fill(secret, 'nonce', base64(randomBytes(32).toString('hex')));
    const signature = nonce && sign(null, Buffer.from(decoded(nonce)), privateKey).toString('base64');
    if (labels[liqoNames.signedNonce] === 'true' && signature && signature !== signedNonce)
      fill(secret, 'signedNonce', signature);
  };

  /** A signature that does not fit the nonce leaves the status empty, for ever. */
  const onTenant = (tenant: Tenant) => {
    const { clusterID = '', publicKey = '', signature = '' } = tenant.spec;
    const { namespace = '' } = tenant.metadata;
    const nonce = decoded(store.get(secrets, namespace, 'liqo-nonce')?.data?.nonce);
    if (!inPlace(tenant, clusterID) || !nonce || !signedBy(publicKey, nonce, signature)) return;
    const authParams = {
      apiServer: 'https://lab.test:6443',
      ca: base64('ca'),
      signedCRT: base64(`cn=${clusterID}`),
    };
    const status = { tenantNamespace: namespace, authParams };
    timers.after(reactMs, () =>
      store.modify(tenants, tenant, (current) => ({ ...current, status }), 'status'),
    );
  };

  return ({ type, resource, object, previous }) => {
    if (type === 'DELETED') return;
    if (resource === secrets) onSecret(object as Secret);
    if (resource === tenants && !previous) onTenant(object as Tenant);
    const { clusterID } = (object.spec ?? {}) as { clusterID?: string };
    if (resource === identities && clusterID && !previous)
      timers.after(reactMs, () => keepForeignCluster(context, clusterID));
  };
}

/** Says Error only a while after its API server has fallen silent, and Established at once when it is back. */
export function keepForeignCluster({ store, timers, providers, errorAfterMs }: PeeringContext, id: string) {
  if (!store.get(foreignClusters, undefined, id))
    store.create(foreignClusters, {
      metadata: { name: id, labels: { [liqoNames.remoteCluster]: id } },
      spec: { clusterID: id },
    });
  const told = store.find(foreignClusters, undefined, id);
  const tell = (status: string) => {
    const condition = { type: 'APIServerStatus', status, lastTransitionTime: store.timestamp() };
    const spoken: ForeignCluster['status'] = { ...told.status, conditions: [condition] };
    store.modify(
      foreignClusters,
      told,
      (current) => ({ ...current, status: { role: 'Provider', ...spoken } }),
      'status',
    );
  };
  if (providers.get(id)?.reachable) tell('Established');
  else
    timers.after(errorAfterMs, () => {
      if (!providers.get(id)?.reachable) tell('Error');
    });
}
