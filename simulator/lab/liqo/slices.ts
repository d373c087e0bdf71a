import type { Change } from '../api/history.ts';
import type { Condition, KubeObject } from '../api/objects.ts';
import { nodes } from '../api/resource-types.ts';
import type { Store } from '../api/store.ts';
import type { timerGroup } from '../rack/clock.ts';
import type { Provider, Verdict } from './provider.ts';
import { identities, liqoNames, resourceSlices, type Slice, virtualNodes } from './types.ts';
import type { VirtualNodes } from './virtual-nodes.ts';

export interface SliceContext {
  readonly store: Store;
  readonly timers: ReturnType<typeof timerGroup>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly nodes: VirtualNodes;
  readonly reactMs: number;
}

const providerOf = ({ metadata, spec }: Slice) =>
  metadata.labels?.[liqoNames.replicateTo] ?? spec.providerClusterID ?? '';

/** What crd-replicator looks at; without all of it a slice is a note that nobody reads. */
const isReplicated = ({ metadata }: Slice) =>
  metadata.labels?.[liqoNames.replication] === 'true' &&
  metadata.labels[liqoNames.replicateTo] !== undefined &&
  metadata.labels[liqoNames.remoteCluster] === metadata.labels[liqoNames.replicateTo];

/** Slices are carried to their provider, its verdict comes back, and virtual nodes are made of what it grants. */
export function followSlices(context: SliceContext) {
  const { store, timers, providers, reactMs } = context;
  const waiting = new Set<string>();

  /** Once a while after the last reason to look: reactions are never immediate. */
  const soon = ({ metadata: { namespace = '', name } }: KubeObject) => {
    const key = `${namespace}/${name}`;
    if (waiting.has(key)) return;
    waiting.add(key);
    timers.after(reactMs, () => {
      waiting.delete(key);
      const slice = store.get(resourceSlices, namespace, name);
      if (slice) reconcile(slice);
    });
  };

  const isPeered = (id: string) =>
    [...store.list(identities)].some(({ spec }) => (spec as { clusterID?: string }).clusterID === id);

  const reconcile = (slice: Slice) => {
    const id = providerOf(slice);
    const provider = providers.get(id);
    if (!isReplicated(slice) || !provider?.reachable || !isPeered(id)) return;
    const finalizers = slice.metadata.finalizers ?? [];
    if (slice.metadata.deletionTimestamp) {
      provider.slices.delete(slice.metadata.name);
      const left = finalizers.filter((one) => one !== liqoNames.replicated);
      store.modify(resourceSlices, slice, (now) => ({
        ...now,
        metadata: { ...now.metadata, finalizers: left },
      }));
      return;
    }
    if (!finalizers.includes(liqoNames.replicated))
      store.modify(resourceSlices, slice, (now) => ({
        ...now,
        metadata: { ...now.metadata, finalizers: [...finalizers, liqoNames.replicated] },
      }));
    const status = statusOf(provider.consider(slice), slice, store.timestamp());
    store.modify(resourceSlices, slice, (now) => ({ ...now, status }), 'status');
    if (isAccepted(status) && slice.metadata.annotations?.[liqoNames.createVirtualNode] === 'true')
      context.nodes.ensure(slice, status.resources ?? {});
  };

  return {
    all: () => [...store.list(resourceSlices)].forEach(soon),
    onChange({ type, resource, object }: Change) {
      const { namespace, name } = object.metadata;
      if (resource === resourceSlices && type !== 'DELETED') soon(object);
      if (resource === resourceSlices && type === 'DELETED') {
        // The slice owns its virtual node: what is left of the garbage collector's work is done here.
        if (store.get(virtualNodes, namespace, name)) store.delete(virtualNodes, namespace, name);
      }
      if (resource === virtualNodes && type === 'DELETED') {
        // While its slice is there, Liqo makes it anew.
        const slice = store.get(resourceSlices, namespace, name);
        if (slice) soon(slice);
      }
      if (resource === identities && type === 'ADDED')
        for (const slice of store.list(resourceSlices)) soon(slice);
      if (resource === nodes && type === 'DELETED') context.nodes.lost(name);
    },
  };
}

const isAccepted = (status: Slice['status']) =>
  ['Authentication', 'Resources'].every(
    (type) => status?.conditions?.find((one) => one.type === type)?.status === 'Accepted',
  );

/** A denial leaves what was granted before in the status, as it leaves the node. */
function statusOf(verdict: Verdict, slice: Slice, at: string): NonNullable<Slice['status']> {
  const condition = (type: string, status: string, reason: string, message: string): Condition => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: at,
  });
  const authentication = condition('Authentication', 'Accepted', 'ResourceSliceAuthenticationAccepted', '');
  if (verdict === undefined) return { ...slice.status, conditions: [authentication] };
  if ('denied' in verdict) {
    const { reason, message } = verdict.denied;
    return {
      ...slice.status,
      conditions: [authentication, condition('Resources', 'Denied', reason, message)],
    };
  }
  const accepted = condition('Resources', 'Accepted', 'ResourceSliceResourcesAccepted', '');
  return { conditions: [authentication, accepted], resources: { ...verdict.granted } };
}
