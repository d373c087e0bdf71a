import type { ClusterView, Node, Pod } from './cluster.ts';
import type { Place } from './fit.ts';
import { type Capacity, capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import { add, subtract } from './resources.ts';
import type { PoolSpec, Settings } from './settings.ts';

/** All that a decision may know. */
export interface Snapshot {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly cluster: ClusterView;
}

/** What the machine's node will be, before the machine is on. */
export function placeOf({ spec }: Machine): Place {
  return {
    name: spec.name,
    labels: { 'kubernetes.io/hostname': spec.name, 'bamel.dev/pool': spec.pool, ...spec.labels },
    taints: spec.taints ?? [],
    free: { pods: 110, ...spec.resources },
  };
}

/** Ready nodes that take pods, with what is left on them. */
export function openNodes({ nodes, pods }: ClusterView): Place[] {
  const used = new Map<string, ReturnType<typeof add>>();
  for (const pod of pods)
    if (pod.node && !pod.finished) used.set(pod.node, add(used.get(pod.node) ?? {}, withSlot(pod)));
  return nodes
    .filter((node) => node.ready && !node.unschedulable)
    .map((node) => ({ ...node, free: subtract(node.allocatable, used.get(node.name) ?? {}) }));
}

/** A pod's requests and the pod slot it takes. */
export const withSlot = (pod: Pod) => ({ ...pod.requests, pods: 1 });

/** Pods the scheduler found no node for. Those of a DaemonSet are no demand: they follow their nodes. */
export function waitingPods({ pods }: ClusterView): Pod[] {
  return pods.filter(
    (pod) =>
      pod.unschedulable !== undefined && !pod.node && !pod.finished && !pod.terminating && !pod.belongsToNode,
  );
}

/** Pods that keep their node in use. */
export function busyPods(view: ClusterView, node: string): Pod[] {
  return view.pods.filter((pod) => pod.node === node && !pod.finished && !pod.belongsToNode);
}

export const count = (machines: readonly Machine[], ...capacities: Capacity[]): number =>
  machines.filter((machine) => capacities.includes(capacityOf(machine))).length;

export const nodeOf = (machine: Machine, view: ClusterView): Node | undefined =>
  view.nodes.find((node) => node.name === machine.status.kubernetesNode);
