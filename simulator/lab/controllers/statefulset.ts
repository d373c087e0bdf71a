import type { Pod, Workload } from '../api/objects.ts';
import { persistentVolumeClaims, pods, statefulSets } from '../api/resource-types.ts';
import { type Context, hashOf, podFrom, reconcile, removePod } from './context.ts';
import { isFinished, isReady } from './pod-state.ts';

const hashLabel = 'controller-revision-hash';

const ordinalOf = ({ metadata }: Pod) => Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1));

function claims({ store }: Context, set: Workload, pod: string) {
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata, spec }) => {
    const name = `${metadata.name}-${pod}`;
    const { namespace } = set.metadata;
    if (!store.get(persistentVolumeClaims, namespace, name))
      store.create(persistentVolumeClaims, { metadata: { name, namespace, labels: metadata.labels }, spec });
    return { name: metadata.name, persistentVolumeClaim: { claimName: name } };
  });
}

function make(context: Context, set: Workload, ordinal: number, hash: string): void {
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = {
    [hashLabel]: hash,
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': `${ordinal}`,
  };
  const { metadata, spec = { containers: [] } } = podFrom(set, set.spec.template, labels);
  const volumes = [...(spec.volumes ?? []), ...claims(context, set, name)];
  context.store.create(pods, {
    metadata: { ...metadata, generateName: undefined, name },
    spec: {
      ...spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      ...(volumes.length ? { volumes } : {}),
    },
  });
}

/** One step towards what is wanted: in order, one at a time, unless the set says Parallel. */
function step(context: Context, set: Workload, present: readonly Pod[], hash: string): void {
  const wanted = set.spec.replicas ?? 1;
  const oneByOne = set.spec.podManagementPolicy !== 'Parallel';
  const byOrdinal = new Map(present.map((pod) => [ordinalOf(pod), pod]));
  for (let ordinal = 0; ordinal < wanted; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) make(context, set, ordinal, hash);
    else if (isFinished(pod)) removePod(context, pod);
    if (oneByOne && !(pod && isReady(pod) && !pod.metadata.deletionTimestamp)) return;
  }
  const surplus = present
    .filter((pod) => ordinalOf(pod) >= wanted)
    .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
  for (const pod of oneByOne ? surplus.slice(0, 1) : surplus)
    if (!pod.metadata.deletionTimestamp) removePod(context, pod);
  if (surplus.length || set.spec.updateStrategy?.type === 'OnDelete') return;
  const outdated = present.filter(({ metadata }) => metadata.labels?.[hashLabel] !== hash);
  const last = outdated.toSorted((a, b) => ordinalOf(b) - ordinalOf(a))[0];
  if (last && present.every((pod) => isReady(pod) && !pod.metadata.deletionTimestamp))
    removePod(context, last);
}

export function statefulSetController(context: Context): void {
  const { store, dependents } = context;
  reconcile(context, statefulSets, [pods], (set) => {
    const hash = hashOf(set.spec.template);
    const own = () => dependents.controlled(pods, set.metadata.uid);
    if (!set.metadata.deletionTimestamp) step(context, set, own(), hash);
    const present = own();
    const ready = present.filter(isReady).length;
    const updated = present.filter(({ metadata }) => metadata.labels?.[hashLabel] === hash).length;
    const status = {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: present.length,
      ...(ready ? { readyReplicas: ready } : {}),
      availableReplicas: ready,
      ...(updated ? { updatedReplicas: updated, currentReplicas: updated } : {}),
      currentRevision: `${set.metadata.name}-${hash}`,
      updateRevision: `${set.metadata.name}-${hash}`,
      collisionCount: 0,
    };
    store.modify(statefulSets, set, (current) => ({ ...current, status }), 'status');
  });
}
