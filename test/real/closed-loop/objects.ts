import type {
  V1DaemonSet,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodSpec,
} from '@kubernetes/client-node';
import type { Labels } from '../../../shared/core/cluster/cluster.ts';

export const namespace = 'closed-loop';
export const zoneLabel = 'topology.kubernetes.io/zone';
export const hostLabel = 'kubernetes.io/hostname';
export const gpu = 'nvidia.com/gpu';

export interface Requests {
  /** Millicores. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly gpus?: number;
}

interface PodParts {
  readonly name: string;
  readonly labels: Labels;
  /** What would make the pod again. */
  readonly owner: { readonly kind: string; readonly name: string };
  readonly requests: Requests;
  readonly spec?: Partial<V1PodSpec>;
}

/** A pod that ends at once when it is deleted: no kubelet is here to end it. */
export function podObject({ name, labels, owner, requests, spec }: PodParts): V1Pod {
  const apiVersion = owner.kind === 'Job' ? 'batch/v1' : 'apps/v1';
  return {
    metadata: {
      name,
      namespace,
      labels: { ...labels },
      ownerReferences: [
        { apiVersion, kind: owner.kind, name: owner.name, uid: `uid-${owner.name}`, controller: true },
      ],
    },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'pause', resources: resourcesOf(requests) }],
      ...spec,
    },
  };
}

function resourcesOf({ cpu, memory, gpus }: Requests) {
  const amounts = { cpu: `${cpu}m`, memory: `${memory}Mi` };
  if (!gpus) return { requests: amounts };
  return { requests: { ...amounts, [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
}

/** A volume of one zone and the claim that it is bound to. */
export function boundVolume(
  name: string,
  zone: string,
): { volume: V1PersistentVolume; claim: V1PersistentVolumeClaim } {
  const accessModes = ['ReadWriteOnce'];
  const inZone = { matchExpressions: [{ key: zoneLabel, operator: 'In', values: [zone] }] };
  return {
    volume: {
      metadata: { name },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes,
        storageClassName: '',
        csi: { driver: 'disk.example.com', volumeHandle: name },
        nodeAffinity: { required: { nodeSelectorTerms: [inZone] } },
        claimRef: { kind: 'PersistentVolumeClaim', namespace, name },
      },
    },
    claim: {
      metadata: { name, namespace, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: {
        accessModes,
        resources: { requests: { storage: '10Gi' } },
        storageClassName: '',
        volumeName: name,
      },
    },
  };
}

export const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A node as it is when its kubelet has just come up: Ready, and not yet open for pods. */
export function joiningNode(
  name: string,
  labels: Labels,
  taints: readonly { key: string; value?: string | undefined; effect: string }[],
  allocatable: Record<string, string>,
): V1Node {
  return {
    metadata: { name, labels: { ...labels } },
    spec: {
      taints: [
        ...taints.map(({ key, value, effect }) => ({ key, effect, ...(value && { value }) })),
        notReady,
      ],
    },
    status: {
      allocatable,
      capacity: allocatable,
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

export interface Daemon {
  readonly name: string;
  readonly requests: Requests;
  /** Tolerates every taint. */
  readonly everywhere: boolean;
  readonly nodeSelector: Labels;
}

const toleratesAll: V1PodSpec['tolerations'] = [{ operator: 'Exists' }];

const daemonSpec = ({ requests, everywhere, nodeSelector }: Daemon): V1PodSpec => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'main', image: 'pause', resources: resourcesOf(requests) }],
  nodeSelector: { ...nodeSelector },
  // Nobody takes its place.
  priorityClassName: 'system-node-critical',
  ...(everywhere && { tolerations: toleratesAll }),
});

export function daemonSetObject(daemon: Daemon): V1DaemonSet {
  const labels = { app: daemon.name };
  return {
    metadata: { name: daemon.name, namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: daemonSpec(daemon) },
    },
  };
}

/** The pod of the DaemonSet on a node that it is meant for. */
export const daemonPodObject = (daemon: Daemon, node: string): V1Pod => ({
  ...podObject({
    name: `${daemon.name}-${node}`,
    labels: { app: daemon.name },
    owner: { kind: 'DaemonSet', name: daemon.name },
    requests: daemon.requests,
  }),
  spec: { ...daemonSpec(daemon), nodeName: node },
});
