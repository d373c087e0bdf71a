import { add, fromQuantities, larger, type Resources } from '../../../shared/core/cluster/resources.ts';
import type { Container, Node, NodeSelectorTerm, Pod, PodSpec, Taint, Toleration } from '../api/objects.ts';
import { requirement } from '../api/selectors.ts';

/** What a pod asks of a node. Pods with the same signature fit in the same places. */
export interface Demand {
  readonly requests: Resources;
  readonly ports: readonly string[];
  readonly spec: PodSpec;
  readonly priority: number;
  readonly signature: string;
}

export interface NodeState {
  readonly node: Node;
  readonly allocatable: Resources;
  readonly usage: Usage;
}

/** What the pods on a node take, kept by adding and taking away. */
export interface Usage {
  readonly amounts: Record<string, number>;
  readonly ports: Map<string, number>;
  pods: number;
}

const requestsOf = ({ resources }: Container) => fromQuantities(resources?.requests);

/** Containers run together; before them each init container alone, but beside the sidecars started before it. */
function totalRequests(spec: PodSpec): Resources {
  let sidecars: Resources = {};
  let peak: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') sidecars = add(sidecars, own);
    else peak = larger(peak, add(sidecars, own));
  }
  const together = spec.containers.reduce((total, container) => add(total, requestsOf(container)), sidecars);
  return add(larger(together, peak), fromQuantities(spec.overhead));
}

const hostPortsOf = ({ containers, hostNetwork }: PodSpec) =>
  containers.flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, containerPort, protocol = 'TCP' }) => {
      const port = hostPort ?? (hostNetwork ? containerPort : undefined);
      return port ? [`${protocol}/${port}`] : [];
    }),
  );

const demands = new WeakMap<Pod, Demand>();

export function demandOf(pod: Pod): Demand {
  const known = demands.get(pod);
  if (known) return known;
  const { spec } = pod;
  const requests = totalRequests(spec);
  const ports = hostPortsOf(spec);
  const priority = spec.priority ?? 0;
  const affinity = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const signature = JSON.stringify([
    priority,
    requests,
    ports,
    spec.nodeSelector,
    affinity,
    spec.tolerations,
  ]);
  const demand = { requests, ports, spec, priority, signature };
  demands.set(pod, demand);
  return demand;
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
}

/** The first taint that keeps a pod with these tolerations away. */
export function untolerated(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[] | undefined,
  effects: readonly string[] = ['NoSchedule', 'NoExecute'],
): Taint | undefined {
  return taints?.find(
    (taint) =>
      effects.includes(taint.effect) && !tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

function matchesTerm({ matchExpressions, matchFields }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (!matchExpressions?.length && !matchFields?.length) return false;
  return (
    (matchExpressions ?? []).every(({ key, operator, values }) =>
      requirement(operator, values)(metadata.labels?.[key]),
    ) &&
    (matchFields ?? []).every(
      ({ key, operator, values }) => key === 'metadata.name' && requirement(operator, values)(metadata.name),
    )
  );
}

export function matchesNode(spec: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels;
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {}))
    if (labels?.[key] !== value) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Why the node is out of the question whatever runs on it, or undefined. In the real scheduler's order and words. */
export function mismatch({ spec }: Demand, node: Node): string | undefined {
  if (node.spec.unschedulable && untolerated(spec.tolerations, [cordoned]))
    return 'node(s) were unschedulable';
  if (untolerated(spec.tolerations, node.spec.taints)) return 'node(s) had untolerated taint(s)';
  if (!matchesNode(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  return undefined;
}

/** What the node is short of; nothing when the pod fits. */
export function shortages({ requests, ports }: Demand, { allocatable, usage }: NodeState): string[] {
  if (ports.some((port) => usage.ports.has(port)))
    return ["node(s) didn't have free ports for the requested pod ports"];
  const short: string[] = [];
  if (usage.pods + 1 > (allocatable.pods ?? 0)) short.push('Too many pods');
  for (const name of Object.keys(requests)) {
    const wanted = requests[name] ?? 0;
    if (wanted > 0 && wanted > (allocatable[name] ?? 0) - (usage.amounts[name] ?? 0))
      short.push(`Insufficient ${name}`);
  }
  return short;
}

/** Would not fit even if the node were empty. */
export const tooBig = ({ requests }: Demand, { allocatable }: NodeState) =>
  Object.entries(requests).some(([name, amount]) => amount > 0 && amount > (allocatable[name] ?? 0));

/** 0 empty … 1 full, counting the pod: the mean of cpu and memory. Pods that ask for nothing still count a little. */
export function fullness({ requests }: Demand, { allocatable, usage }: NodeState): number {
  const part = (name: string) =>
    ((usage.amounts[name] ?? 0) + (requests[name] ?? 0)) / (allocatable[name] || 1);
  return (part('cpu') + part('memory')) / 2 + usage.pods * 1e-6;
}
