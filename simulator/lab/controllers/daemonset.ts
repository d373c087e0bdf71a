import type { Draft, Node, Pod, PodSpec, Toleration, Workload } from '../api/objects.ts';
import { daemonSets, nodes, pods } from '../api/resource-types.ts';
import { type Context, hashOf, podFrom, reconcile, removePod } from './context.ts';
import { matchesNode, untolerated } from './node-fit.ts';
import { amountOf, isFinished, isReady } from './pod-state.ts';

const hashLabel = 'controller-revision-hash';

const exists = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect });

/** A daemon belongs to its node: it stays through whatever happens to it. */
const daemonTolerations: readonly Toleration[] = [
  exists('node.kubernetes.io/not-ready', 'NoExecute'),
  exists('node.kubernetes.io/unreachable', 'NoExecute'),
  exists('node.kubernetes.io/disk-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/memory-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/pid-pressure', 'NoSchedule'),
  exists('node.kubernetes.io/unschedulable', 'NoSchedule'),
];

function daemonSpec(spec: PodSpec): PodSpec {
  const network = spec.hostNetwork ? [exists('node.kubernetes.io/network-unavailable', 'NoSchedule')] : [];
  return { ...spec, tolerations: [...(spec.tolerations ?? []), ...daemonTolerations, ...network] };
}

/** The same pod, tied to one node in a way the scheduler respects. */
function tied(spec: PodSpec, node: string): PodSpec {
  const affinity = spec.affinity?.nodeAffinity;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const required = { nodeSelectorTerms: terms.map((term) => ({ ...term, matchFields })) };
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: { ...affinity, requiredDuringSchedulingIgnoredDuringExecution: required },
    },
  };
}

const nodeOf = ({ spec }: Pod): string | undefined =>
  spec.nodeName ||
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]
    ?.matchFields?.[0]?.values?.[0];

export function daemonSetController(context: Context): void {
  const { store, dependents, on } = context;

  const belongs = (spec: PodSpec, node: Node) =>
    matchesNode(spec, node) &&
    // Not ready yet is no reason to stay away: it is waited for.
    !untolerated(
      [...(spec.tolerations ?? []), exists('node.kubernetes.io/not-ready', 'NoSchedule')],
      node.spec.taints,
    );

  const sync = (set: Workload) => {
    const spec = daemonSpec(set.spec.template.spec ?? { containers: [] });
    const hash = hashOf(set.spec.template);
    const byNode = new Map<string, Pod>();
    const surplus: Pod[] = [];
    for (const pod of dependents.controlled(pods, set.metadata.uid)) {
      const node = nodeOf(pod) ?? '';
      if (pod.metadata.deletionTimestamp) continue;
      if (isFinished(pod) || byNode.has(node)) surplus.push(pod);
      else byNode.set(node, pod);
    }
    const wanted = [...store.list(nodes)].filter((node) => belongs(spec, node));
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    const misplaced = [...byNode].filter(([node]) => !names.has(node));
    const daemons = [...byNode].filter(([node]) => names.has(node)).map(([, pod]) => pod);
    if (!set.metadata.deletionTimestamp) {
      for (const pod of [...surplus, ...misplaced.map(([, pod]) => pod)]) removePod(context, pod);
      for (const name of names)
        if (!byNode.has(name)) {
          const draft: Draft<Pod> = podFrom(set, set.spec.template, { [hashLabel]: hash });
          store.create(pods, { ...draft, spec: tied(spec, name) });
        }
      replaceOutdated(set, daemons, hash);
    }
    const ready = daemons.filter(isReady).length;
    const updated = daemons.filter(({ metadata }) => metadata.labels?.[hashLabel] === hash).length;
    const status = {
      desiredNumberScheduled: names.size,
      currentNumberScheduled: daemons.length,
      numberMisscheduled: misplaced.length,
      numberReady: ready,
      ...(updated ? { updatedNumberScheduled: updated } : {}),
      ...(ready ? { numberAvailable: ready } : {}),
      ...(names.size > ready ? { numberUnavailable: names.size - ready } : {}),
      observedGeneration: set.metadata.generation ?? 0,
    };
    store.modify(daemonSets, set, (current) => ({ ...current, status }), 'status');
  };

  const replaceOutdated = (set: Workload, daemons: readonly Pod[], hash: string) => {
    if (set.spec.updateStrategy?.type === 'OnDelete') return;
    const outdated = daemons.filter(({ metadata }) => metadata.labels?.[hashLabel] !== hash);
    const limit = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
    const down = daemons.filter((pod) => !isReady(pod)).length;
    const room = Math.max(0, amountOf(limit, daemons.length, Math.ceil) - down);
    const broken = outdated.filter((pod) => !isReady(pod));
    const working = outdated.filter(isReady).slice(0, room);
    for (const pod of [...broken, ...working]) removePod(context, pod);
  };

  const enqueue = reconcile(context, daemonSets, [pods], sync);
  on(nodes, () => {
    for (const { metadata } of store.list(daemonSets)) enqueue(metadata.namespace, metadata.name);
  });
}
