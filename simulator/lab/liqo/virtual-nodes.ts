import { evict } from '../api/eviction.ts';
import type { Change } from '../api/history.ts';
import { nodes, pods } from '../api/resource-types.ts';
import { StatusError } from '../api/status-error.ts';
import type { Store } from '../api/store.ts';
import { ownerReference } from '../controllers/context.ts';
import type { KubeletHost } from '../kubelet/node-object.ts';
import type { timerGroup } from '../rack/clock.ts';
import type { Provider } from './provider.ts';
import { liqoNames, type Slice, type VirtualNode, virtualNodes } from './types.ts';

/** Who plays the virtual kubelets: the store itself, or the kubelets of a lab, who also run the pods. */
export interface NodePlayer {
  /** Registers the node Ready, or is heard of again, or has another size. */
  join(host: KubeletHost): void;
  /** Not heard of any more: the control plane will notice. */
  silence(name: string): void;
  /** Stops for good; the Node is deleted by then. */
  leave(name: string): void;
}

export interface VirtualNodeContext {
  readonly store: Store;
  readonly timers: ReturnType<typeof timerGroup>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly player: NodePlayer;
  readonly reactMs: number;
  readonly nodeMs: number;
  /** How much longer a name takes that was in use not long ago. */
  readonly reuseMs: number;
}

const reuseWindowMs = 60_000;

/** VirtualNodes and the Nodes that come of them. */
export class VirtualNodes {
  readonly #context: VirtualNodeContext;
  readonly #hosts = new Map<string, { host: KubeletHost; provider: string }>();
  readonly #draining = new Set<string>();
  readonly #gone = new Map<string, number>();

  constructor(context: VirtualNodeContext) {
    this.#context = context;
  }

  /** Of a slice that was granted; asked again it is resized. */
  ensure(slice: Slice, capacity: Record<string, string>): void {
    const { store, timers, providers, player, nodeMs } = this.#context;
    const { name, namespace } = slice.metadata;
    const provider = slice.spec.providerClusterID ?? '';
    const known = this.#hosts.get(name);
    const host = hostOf(name, provider, capacity);
    const there = store.get(virtualNodes, namespace, name);
    if (there?.metadata.deletionTimestamp) return;
    if (there && known) {
      if (JSON.stringify(known.host.capacity) === JSON.stringify(capacity)) return;
      this.#hosts.set(name, { host, provider });
      if (store.get(nodes, undefined, name)) player.join(host);
      return;
    }
    const made =
      there ??
      store.create(virtualNodes, {
        metadata: {
          name,
          namespace,
          labels: { [liqoNames.remoteCluster]: provider },
          finalizers: [liqoNames.virtualNode],
          ownerReferences: [ownerReference(slice)],
        },
        spec: { clusterID: provider },
      });
    this.#hosts.set(name, { host, provider });
    // It says so before there is a Node: so the real one does.
    const conditions = ['VirtualKubelet', 'Node'].map((type) => ({ type, status: 'Running' }));
    store.modify(virtualNodes, made, (now) => ({ ...now, status: { conditions } }), 'status');
    timers.after(nodeMs + this.#reuse(name), () => {
      const now = store.get(virtualNodes, namespace, name);
      if (!now || now.metadata.deletionTimestamp || !this.#hosts.has(name)) return;
      if (providers.get(provider)?.reachable) player.join(this.#hosts.get(name)?.host ?? host);
    });
  }

  /** What its provider's API server does, every virtual kubelet of it notices. */
  heard(provider: Provider): void {
    const { player, store } = this.#context;
    for (const [name, { host, provider: id }] of this.#hosts) {
      if (id !== provider.id) continue;
      if (!provider.reachable) player.silence(name);
      else if (store.get(virtualNodes, tenantOf(id), name)) player.join(host);
    }
  }

  onChange({ type, resource, object }: Change): void {
    if (resource !== virtualNodes) return;
    if (type === 'DELETED') this.#hosts.delete(object.metadata.name);
    else if (object.metadata.deletionTimestamp) this.#drain(object as VirtualNode);
  }

  /** Somebody else deleted the Node: the virtual kubelet registers it anew. */
  lost(name: string): void {
    const { timers, player, providers, nodeMs, store } = this.#context;
    const known = this.#hosts.get(name);
    if (!known) return;
    timers.after(nodeMs, () => {
      if (this.#hosts.get(name) !== known || store.get(nodes, undefined, name)) return;
      if (providers.get(known.provider)?.reachable) player.join(known.host);
    });
  }

  /** Cordons, evicts what its budgets allow, and only then lets the Node go. */
  #drain(virtualNode: VirtualNode): void {
    const { store, timers, reactMs } = this.#context;
    const { name } = virtualNode.metadata;
    if (this.#draining.has(name)) return;
    this.#draining.add(name);
    const step = () => {
      const node = store.get(nodes, undefined, name);
      if (node) store.modify(nodes, node, (now) => ({ ...now, spec: { ...now.spec, unschedulable: true } }));
      const left = [...store.list(pods)].filter(({ spec }) => spec.nodeName === name);
      for (const { metadata } of left) if (!metadata.deletionTimestamp) this.#evict(metadata);
      if (left.length > 0) timers.after(reactMs, step);
      else this.#end(virtualNode);
    };
    timers.after(reactMs, step);
  }

  #evict({ namespace = '', name }: { namespace?: string | undefined; name: string }): void {
    try {
      evict(this.#context.store, namespace, name, {});
    } catch (error) {
      // A budget says not now: it is tried again.
      if (!(error instanceof StatusError) || error.code !== 429) throw error;
    }
  }

  #end(virtualNode: VirtualNode): void {
    const { store, player } = this.#context;
    const { name } = virtualNode.metadata;
    this.#gone.set(name, store.clock.now());
    this.#hosts.delete(name);
    player.leave(name);
    if (store.get(nodes, undefined, name)) store.delete(nodes, undefined, name);
    this.#draining.delete(name);
    store.modify(virtualNodes, virtualNode, (now) => ({
      ...now,
      metadata: { ...now.metadata, finalizers: [] },
    }));
  }

  #reuse(name: string): number {
    const { store, reuseMs } = this.#context;
    const gone = this.#gone.get(name);
    return gone !== undefined && store.clock.now() - gone < reuseWindowMs ? reuseMs : 0;
  }
}

const tenantOf = (provider: string) => `liqo-tenant-${provider}`;

/** A virtual kubelet tells no boot, no UUID and no providerID. */
const hostOf = (name: string, provider: string, capacity: Record<string, string>): KubeletHost => ({
  name,
  address: '10.64.254.1',
  arch: 'amd64',
  capacity,
  labels: { [liqoNames.nodeType]: 'virtual-node', [liqoNames.remoteCluster]: provider },
  taints: [liqoNames.taint],
  systemUUID: '',
  machineID: '',
  bootID: '',
});
