import type { ClusterView, Node, Pod, PodRef } from './cluster.ts';
import type { Place } from './fit.ts';
import { type Capacity, capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import { add, type Resources, subtract } from './resources.ts';
import type { PoolSpec, Settings } from './settings.ts';
import { byText } from './text.ts';

/** All that a decision may know. */
export interface Snapshot {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
}

export const hostnameLabel = 'kubernetes.io/hostname';

/** What the machine's node will be, before the machine is on. */
export function placeOf({ spec }: Machine): Place {
  return {
    name: spec.name,
    labels: { [hostnameLabel]: spec.name, 'bamel.dev/pool': spec.pool, ...spec.labels },
    taints: spec.taints ?? [],
    free: { pods: 110, ...spec.resources },
  };
}

/** Ready nodes that take pods, with what is left on them. Those that are to be emptied take none, cordoned yet or not. */
export function openNodes({ cluster, machines }: Snapshot): Place[] {
  const leaving = new Set(
    machines
      .filter((machine) => capacityOf(machine) === 'leaving')
      .map(({ status }) => status.kubernetesNode),
  );
  const used = new Map<string, Resources>();
  for (const pod of cluster.pods)
    if (pod.node && !pod.finished) used.set(pod.node, add(used.get(pod.node) ?? {}, withSlot(pod)));
  return cluster.nodes
    .filter((node) => node.ready && !node.unschedulable && !leaving.has(node.name))
    .map((node) => ({ ...node, free: subtract(node.allocatable, used.get(node.name) ?? {}) }));
}

/** A pod's requests and the pod slot it takes. */
export const withSlot = (pod: Pod) => ({ ...pod.requests, pods: 1 });

/**
 * Pods the scheduler found no node for, the largest first. Those of a DaemonSet are no demand: they follow
 * their nodes.
 */
export function waitingPods({ pods }: ClusterView): Pod[] {
  return pods
    .filter(
      (pod) =>
        pod.unschedulable !== undefined &&
        !pod.node &&
        !pod.finished &&
        !pod.terminating &&
        !pod.belongsToNode,
    )
    .sort(largestFirst);
}

const largestFirst = (a: Pod, b: Pod): number =>
  (b.requests.cpu ?? 0) - (a.requests.cpu ?? 0) ||
  (b.requests.memory ?? 0) - (a.requests.memory ?? 0) ||
  a.createdAt - b.createdAt ||
  byText(podName(a), podName(b));

export const podName = (pod: PodRef): string => `${pod.namespace}/${pod.name}`;

/** Pods that keep their node in use. */
export function busyPods(view: ClusterView, node: string): Pod[] {
  return view.pods.filter((pod) => pod.node === node && !pod.finished && !pod.belongsToNode);
}

export const count = (machines: readonly Machine[], ...capacities: Capacity[]): number =>
  machines.filter((machine) => capacities.includes(capacityOf(machine))).length;

export const nodeOf = (machine: Machine, view: ClusterView): Node | undefined =>
  view.nodes.find((node) => node.name === machine.status.kubernetesNode);
