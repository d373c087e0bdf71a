import type {
  V1DaemonSet,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodSpec,
} from '@kubernetes/client-node';
import type {
  DaemonSet,
  DisruptionBudget,
  Labels,
  Namespace,
  Node,
  Owner,
  Pod,
  Taint,
} from '../../core/cluster/cluster.ts';
import { fromQuantities } from '../../core/cluster/resources.ts';
import { podRequests } from './pod-requests.ts';
import { toNodeTerm, toRules, toSelector } from './scheduling-rules.ts';
import { noShare, type Share } from './share.ts';

/** What the core needs to know of a pod, and no more: thousands of them are kept in memory. */
export function toPod(pod: V1Pod, share: Share = noShare): Pod {
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  const unschedulable = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
  const belongsToNode =
    pod.metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined ||
    (pod.metadata?.ownerReferences ?? []).some(
      ({ controller, kind }) => controller && (kind === 'DaemonSet' || kind === 'Node'),
    );
  return {
    namespace: pod.metadata?.namespace ?? '',
    name: pod.metadata?.name ?? '',
    uid: pod.metadata?.uid ?? '',
    node: pod.spec?.nodeName || undefined,
    finished: pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed',
    unschedulable: unschedulable ? (scheduled.message ?? '') : undefined,
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    ready: (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
    belongsToNode,
    movable: isMovable(pod),
    requests: share(podRequests(pod)),
    nodeSelector: share(pod.spec?.nodeSelector ?? {}),
    tolerations: share(
      (pod.spec?.tolerations ?? []).map(({ key, operator, value, effect }) => ({
        key,
        operator,
        value,
        effect,
      })),
    ),
    createdAt: time(pod.metadata?.creationTimestamp),
    labels: share(pod.metadata?.labels ?? {}),
    annotations: share(scalingAnnotations(pod.metadata)),
    priority: pod.spec?.priority ?? 0,
    owner: share(ownerOf(pod.metadata)),
    nominatedNode: pod.status?.nominatedNodeName || undefined,
    gates: share(
      pod.spec?.schedulingGates?.length ? pod.spec.schedulingGates.map(({ name }) => name) : undefined,
    ),
    localVolumes: share(localVolumes(pod.spec)),
    rules: share(toRules(pod, belongsToNode)),
  };
}

const ownerOf = (metadata: V1ObjectMeta | undefined): Owner | undefined => {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  return owner && { kind: owner.kind, name: owner.name, uid: owner.uid };
};

const aboutScaling = /^(cluster-autoscaler\.kubernetes\.io|karpenter\.sh|bamel\.dev)\//;

/** Most annotations are long and about something else. */
function scalingAnnotations(metadata: V1ObjectMeta | undefined): Labels | undefined {
  const found = Object.entries(metadata?.annotations ?? {}).filter(([key]) => aboutScaling.test(key));
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function localVolumes(spec: V1PodSpec | undefined): readonly string[] | undefined {
  const found = (spec?.volumes ?? []).filter(
    ({ emptyDir, hostPath }) => (emptyDir && emptyDir.medium !== 'Memory') || hostPath,
  );
  return found.length > 0 ? found.map(({ name }) => name) : undefined;
}

/** A pod as the DaemonSet will make it. */
export function toDaemonSet({ metadata, spec }: V1DaemonSet): DaemonSet {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true };
  const template: V1Pod = {
    metadata: { ...spec?.template.metadata, namespace, name, uid, ownerReferences: [owner] },
    ...(spec?.template.spec && { spec: spec.template.spec }),
  };
  const required =
    spec?.template.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const { rules, ...pod } = toPod(template);
  // Of the template, affinity says on which nodes there is to be a pod at all.
  return {
    namespace,
    name,
    template: {
      ...pod,
      rules: { ...rules, nodeAffinity: required?.nodeSelectorTerms.map(toNodeTerm) },
    },
  };
}

export const toNamespace = ({ metadata }: V1Namespace): Namespace => ({
  name: metadata?.name ?? '',
  labels: metadata?.labels ?? {},
});

export const toBudget = ({ metadata, spec, status }: V1PodDisruptionBudget): DisruptionBudget => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
  selector: toSelector(spec?.selector),
  disruptionsAllowed: status?.disruptionsAllowed ?? 0,
});

export function toNode(node: V1Node): Node {
  return {
    name: node.metadata?.name ?? '',
    ready: (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
    silent: (node.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Ready' && status === 'Unknown',
    ),
    unschedulable: node.spec?.unschedulable ?? false,
    labels: node.metadata?.labels ?? {},
    annotations: node.metadata?.annotations ?? {},
    taints: (node.spec?.taints ?? []).map(
      ({ key, value, effect }): Taint => ({ key, value, effect: effect as Taint['effect'] }),
    ),
    allocatable: fromQuantities(node.status?.allocatable),
    providerID: node.spec?.providerID,
    systemUUID: node.status?.nodeInfo?.systemUUID,
    bootID: node.status?.nodeInfo?.bootID,
    pressure: pressureOf(node),
  };
}

function pressureOf({ status }: V1Node): readonly string[] | undefined {
  const held = (status?.conditions ?? []).filter(
    ({ type, status }) => type.endsWith('Pressure') && status === 'True',
  );
  return held.length > 0 ? held.map(({ type }) => type) : undefined;
}

/** Controllers that restart a pod elsewhere without losing its work; a Job's pod would start over. */
const replacers = new Set(['ReplicaSet', 'StatefulSet', 'ReplicationController']);

function isMovable({ metadata, spec }: V1Pod): boolean {
  const owner = ownerOf(metadata);
  const annotations = metadata?.annotations ?? {};
  return (
    owner !== undefined &&
    replacers.has(owner.kind) &&
    annotations['cluster-autoscaler.kubernetes.io/safe-to-evict'] !== 'false' &&
    annotations['karpenter.sh/do-not-disrupt'] === undefined &&
    localVolumes(spec) === undefined
  );
}

/** The typed client gives dates, a watch the JSON as it came. */
const time = (value: Date | string | undefined): number => (value ? new Date(value).getTime() : 0);
