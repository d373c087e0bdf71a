import type { V1Container, V1Node, V1Pod } from '@kubernetes/client-node';
import type { Node, Pod } from '../core/cluster.ts';
import type { Taint } from '../core/machine.ts';
import { add, fromQuantities, larger, type Resources } from '../core/resources.ts';

/** What the core needs to know of a pod, and no more: thousands of them are kept in memory. */
export function toPod(pod: V1Pod): Pod {
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  const unschedulable = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable';
  return {
    namespace: pod.metadata?.namespace ?? '',
    name: pod.metadata?.name ?? '',
    uid: pod.metadata?.uid ?? '',
    node: pod.spec?.nodeName || undefined,
    finished: pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed',
    unschedulable: unschedulable ? (scheduled.message ?? '') : undefined,
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    belongsToNode:
      pod.metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined ||
      (pod.metadata?.ownerReferences ?? []).some(
        ({ controller, kind }) => controller && (kind === 'DaemonSet' || kind === 'Node'),
      ),
    movable: isMovable(pod),
    requests: podRequests(pod),
    nodeSelector: pod.spec?.nodeSelector ?? {},
    tolerations: (pod.spec?.tolerations ?? []).map(({ key, operator, value, effect }) => ({
      key,
      operator,
      value,
      effect,
    })),
    createdAt: time(pod.metadata?.creationTimestamp),
  };
}

export function toNode(node: V1Node): Node {
  return {
    name: node.metadata?.name ?? '',
    ready: (node.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
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
  };
}

/** Controllers that start a pod anew elsewhere without losing its work; a Job's pod would begin again. */
const replacers = new Set(['ReplicaSet', 'StatefulSet', 'ReplicationController']);

function isMovable({ metadata, spec }: V1Pod): boolean {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  const annotations = metadata?.annotations ?? {};
  return (
    owner !== undefined &&
    replacers.has(owner.kind) &&
    annotations['cluster-autoscaler.kubernetes.io/safe-to-evict'] !== 'false' &&
    annotations['karpenter.sh/do-not-disrupt'] === undefined &&
    !(spec?.volumes ?? []).some(
      ({ emptyDir, hostPath }) => (emptyDir && emptyDir.medium !== 'Memory') || hostPath,
    )
  );
}

/**
 * As kube-scheduler counts: containers and sidecars together, or the largest init container with the sidecars
 * before it, unless something is asked for the pod as a whole; and what the runtime takes.
 */
function podRequests({ spec }: V1Pod): Resources {
  let sidecars: Resources = {};
  let starting: Resources = {};
  for (const container of spec?.initContainers ?? []) {
    const wanted = containerRequests(container);
    starting = larger(starting, add(sidecars, wanted));
    if (container.restartPolicy === 'Always') sidecars = add(sidecars, wanted);
  }
  const running = (spec?.containers ?? []).map(containerRequests).reduce(add, sidecars);
  const wanted = { ...larger(running, starting), ...fromQuantities(spec?.resources?.requests) };
  return add(wanted, fromQuantities(spec?.overhead));
}

const containerRequests = (container: V1Container): Resources =>
  fromQuantities(container.resources?.requests);

/** The typed client gives dates, a watch the JSON as it came. */
const time = (value: Date | string | undefined): number => (value ? new Date(value).getTime() : 0);
