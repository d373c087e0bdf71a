import type { MachineSpec } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import type { ClusterView, Node, Taint } from './cluster.ts';
import { bamelKeys } from './names.ts';

/** Kubernetes' taint for a node that is certainly off: volumes and pods are released at once. */
export const outOfService: Taint = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

/** How the Cluster Autoscaler marks a node that it deletes, or is about to. It never takes them away again. */
const deletedMark = 'ToBeDeletedByClusterAutoscaler';
export const clusterAutoscalerMarks: readonly string[] = [
  deletedMark,
  'DeletionCandidateOfClusterAutoscaler',
];

/** It cordons with the same stroke, so that such a cordon is nobody's wish to keep the node out of service. */
export const isDeletedByClusterAutoscaler = ({ taints }: Pick<Node, 'taints'>): boolean =>
  taints.some(({ key }) => key === deletedMark);

/** They are from the previous boot. */
const leftOver = [outOfService.key, ...clusterAutoscalerMarks];

export interface Preparation {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly removeTaints: readonly { readonly key: string }[];
}

/** How a node is to look when its machine joins: what the pool says, then what the machine says. */
export function preparationOf(
  { name, pool: poolName, labels, taints = [] }: MachineSpec,
  pool: PoolSpec | undefined,
  node: Node,
): Preparation {
  const ofPool = pool?.template.taints ?? [];
  const isSaid = (one: Taint) => taints.some(({ key, effect }) => key === one.key && effect === one.effect);
  return {
    labels: { ...pool?.template.labels, ...labels, [bamelKeys.machine]: name, [bamelKeys.pool]: poolName },
    taints: [...ofPool.filter((taint) => !isSaid(taint)), ...taints],
    removeTaints: leftOver
      .filter((key) => node.taints.some((taint) => taint.key === key))
      .map((key) => ({ key })),
  };
}

/** DaemonSets are given so long to put their first pod on a new node. */
const daemonPatienceMs = 30_000;

/** The startup taints that may go now: the node is Ready, and so is everything that runs on every node. */
export function startupTaintsDone(
  node: Node,
  { startupTaints }: PoolSpec,
  { pods, daemonSets = [] }: ClusterView,
  joinedForMs: number,
): readonly Taint[] {
  const there = node.taints.filter((taint) =>
    startupTaints.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  if (there.length === 0 || !node.ready) return [];
  const own = pods.filter((pod) => pod.node === node.name && pod.belongsToNode && !pod.finished);
  if (own.some((pod) => !pod.ready)) return [];
  return own.length === 0 && daemonSets.length > 0 && joinedForMs < daemonPatienceMs ? [] : there;
}
