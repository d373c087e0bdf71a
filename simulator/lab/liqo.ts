import type { KubeObjects } from '../../shared/ports/kubernetes-objects.ts';
import { namespaces, nodes } from './api/resource-types.ts';
import { Store } from './api/store.ts';
import { type KubeletHost, nodeConditions, nodeObject, nodeStatus } from './kubelet/node-object.ts';
import { objectsOf } from './liqo/objects.ts';
import { followPeering, installLiqo, keepForeignCluster, tenantNamespaceOf } from './liqo/peering.ts';
import { type Judge, Provider } from './liqo/provider.ts';
import { followSlices } from './liqo/slices.ts';
import { foreignClusters, identities, liqoNames, liqoTypes } from './liqo/types.ts';
import { type NodePlayer, VirtualNodes } from './liqo/virtual-nodes.ts';
import { type Clock, timerGroup } from './rack/clock.ts';

/** Lab time, in milliseconds, as measured on Liqo 1.0. */
interface LiqoTimes {
  /** Until a change is noticed. */
  readonly reactMs: number;
  /** From a granted slice to its Node. */
  readonly nodeMs: number;
  /** The same, on top, when the name was in use not long ago. */
  readonly reuseMs: number;
  /** From the silence of a provider's API server to what Kubernetes shows of it. */
  readonly foreignClusterErrorMs: number;
  readonly nodeUnknownMs: number;
}

const measured: LiqoTimes = {
  reactMs: 100,
  nodeMs: 500,
  reuseMs: 19_000,
  foreignClusterErrorMs: 15_000,
  nodeUnknownMs: 35_000,
};

export interface LiqoOptions {
  /** Of the cluster that it runs on. */
  readonly clusterID?: string;
  /** By their cluster ids; how each judges slices, where not as Liqo does by itself. */
  readonly providers: Readonly<Record<string, Judge | undefined>>;
  readonly times?: Partial<LiqoTimes>;
  /** Who plays the virtual kubelets; without one Nodes are only objects. */
  readonly player?: NodePlayer;
}

export interface Liqo {
  readonly clusterID: string;
  /** Of the cluster that it runs on. */
  readonly store: Store;
  /** The cluster's objects behind the drivers' port. */
  readonly objects: KubeObjects;
  provider(id: string): Provider;
  /** As after the exchange with a provider: its namespace, an Identity, a ForeignCluster. */
  peer(id: string): void;
  stop(): void;
}

/** Liqo 1.0 on a lab's cluster, and the providers that it is peered with, as strict as the real parts. */
export function startLiqo(store: Store, options: LiqoOptions): Liqo {
  const { clusterID = 'consumer' } = options;
  const times = { ...measured, ...options.times };
  const timers = timerGroup(store.clock);
  const providers = new Map<string, Provider>();
  for (const type of liqoTypes) store.types.add(type);
  const privateKey = installLiqo(store, clusterID);
  const player = options.player ?? nodesAsObjects(store, timers, times.nodeUnknownMs);
  const common = { store, timers, providers, reactMs: times.reactMs };
  const virtualNodes = new VirtualNodes({ ...common, player, nodeMs: times.nodeMs, reuseMs: times.reuseMs });
  const slices = followSlices({ ...common, nodes: virtualNodes });
  const peering = { ...common, errorAfterMs: times.foreignClusterErrorMs };
  const onPeering = followPeering(peering, privateKey);
  for (const [id, judge] of Object.entries(options.providers)) {
    const changed = () => {
      if (store.get(foreignClusters, undefined, id)) keepForeignCluster(peering, id);
      virtualNodes.heard(provider);
      slices.all();
    };
    const provider = new Provider(id, changed, judge);
    providers.set(id, provider);
  }
  const unsubscribe = store.subscribe((change) => {
    onPeering(change);
    slices.onChange(change);
    virtualNodes.onChange(change);
  });
  return {
    clusterID,
    store,
    objects: objectsOf(store),
    provider(id) {
      const provider = providers.get(id);
      if (!provider) throw new Error(`nobody plays the provider ${id}`);
      return provider;
    },
    peer(id) {
      const namespace = tenantNamespaceOf(id);
      const labels = { [liqoNames.remoteCluster]: id };
      store.create(namespaces, {
        metadata: { name: namespace, labels: { ...labels, [liqoNames.tenantNamespace]: 'true' } },
      });
      store.create(identities, {
        metadata: { name: `controlplane-${id}`, namespace, labels },
        spec: { clusterID: id, type: 'ControlPlane', namespace: tenantNamespaceOf(clusterID) },
      });
    },
    stop() {
      unsubscribe();
      timers.cancelAll();
    },
  };
}

/** For a test of a driver: Liqo on a cluster that is nothing but objects, at a clock of the test's own. */
export const liqoInMemory = (options: LiqoOptions & { readonly clock?: Clock }): Liqo =>
  startLiqo(new Store({ clock: options.clock }), options);

function nodesAsObjects(
  store: Store,
  timers: ReturnType<typeof timerGroup>,
  unknownAfterMs: number,
): NodePlayer {
  const silent = new Set<string>();
  const ready = (name: string, status: string) => {
    const node = store.get(nodes, undefined, name);
    const conditions = [{ type: 'Ready', status, lastTransitionTime: store.timestamp() }];
    if (node)
      store.modify(nodes, node, (now) => ({ ...now, status: { ...now.status, conditions } }), 'status');
  };
  return {
    join(host: KubeletHost) {
      silent.delete(host.name);
      const status = { ...nodeStatus(host), conditions: nodeConditions(store.timestamp()) };
      const node = store.get(nodes, undefined, host.name);
      if (node) store.modify(nodes, node, (now) => ({ ...now, status }), 'status');
      else store.create(nodes, nodeObject(host, {}, status));
    },
    silence(name) {
      silent.add(name);
      timers.after(unknownAfterMs, () => {
        if (silent.has(name)) ready(name, 'Unknown');
      });
    },
    leave: (name) => void silent.delete(name),
  };
}
