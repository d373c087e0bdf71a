import { admittedPodSpec } from './defaults.ts';
import type { KubeObject, Node, Pod } from './objects.ts';
import { namespaces, priorityClasses, type ResourceType } from './resource-types.ts';
import { forbidden, notFound } from './status-error.ts';
import type { Store } from './store.ts';

const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

function priorityOf(store: Store, type: ResourceType, pod: Pod): number {
  const { priorityClassName: name } = pod.spec;
  if (!name) {
    for (const one of store.list(priorityClasses)) if (one.globalDefault) return one.value ?? 0;
    return 0;
  }
  const value = systemPriorities[name] ?? store.get(priorityClasses, undefined, name)?.value;
  if (value === undefined)
    throw forbidden(type, pod.metadata.name, `no PriorityClass with name ${name} was found`);
  return value;
}

function qosClassOf({ spec }: Pod): string {
  const wanted = spec.containers.map(({ resources }) => ({ ...resources?.limits, ...resources?.requests }));
  if (wanted.every((amounts) => Object.keys(amounts).length === 0)) return 'BestEffort';
  const guaranteed = spec.containers.every(({ resources }) =>
    ['cpu', 'memory'].every(
      (name) =>
        resources?.limits?.[name] !== undefined &&
        (resources.requests?.[name] ?? resources.limits[name]) === resources.limits[name],
    ),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function newPod(store: Store, type: ResourceType, pod: Pod): Pod {
  const gated = Boolean(pod.spec?.schedulingGates?.length);
  const spec = pod.spec?.containers
    ? admittedPodSpec(pod.spec, priorityOf(store, type, pod))
    : { containers: [] };
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    lastTransitionTime: store.timestamp(),
  };
  return {
    ...pod,
    spec,
    status: {
      phase: 'Pending',
      ...(gated ? { conditions: [condition] } : {}),
      qosClass: qosClassOf({ ...pod, spec }),
    },
  };
}

/** A node is not used before its kubelet says that it is ready: the node controller takes this taint away. */
function newNode(node: Node): Node {
  const taints = node.spec?.taints ?? [];
  const key = 'node.kubernetes.io/not-ready';
  const tainted = taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule');
  return {
    ...node,
    spec: { ...node.spec, taints: tainted ? taints : [...taints, { key, effect: 'NoSchedule' }] },
    status: node.status ?? {},
  };
}

const newcomers: Readonly<
  Record<string, (store: Store, type: ResourceType, object: KubeObject) => KubeObject>
> = {
  pods: (store, type, object) => newPod(store, type, object as Pod),
  nodes: (_store, _type, object) => newNode(object as Node),
  namespaces: (_store, _type, object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  persistentvolumes: (_store, _type, object) => ({ ...object, status: { phase: 'Pending' } }),
  persistentvolumeclaims: (_store, _type, object) => ({ ...object, status: { phase: 'Pending' } }),
};

/** A new object as the server's admission lets it in, or the reason why not. */
export function admitted(store: Store, type: ResourceType, object: KubeObject): KubeObject {
  const { namespace, name } = object.metadata;
  if (namespace !== undefined) {
    const home = store.get(namespaces, undefined, namespace);
    if (!home) throw notFound(namespaces, namespace);
    if (home.metadata.deletionTimestamp)
      throw forbidden(
        type,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
  }
  const own = type.group === '' ? newcomers[type.plural] : undefined;
  if (own) return own(store, type, object);
  if (!type.status || type.createsStatus) return object;
  return { ...object, status: type.custom ? undefined : {} };
}
