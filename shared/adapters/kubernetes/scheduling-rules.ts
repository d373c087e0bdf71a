import type {
  V1LabelSelector,
  V1NodeSelectorTerm,
  V1Pod,
  V1PodAffinityTerm,
  V1PodSpec,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import type {
  HostPort,
  Labels,
  NodeTerm,
  PodTerm,
  Requirement,
  SchedulingRules,
  SpreadRule,
} from '../../core/cluster/cluster.ts';

/** What only the scheduler reads of a pod; undefined when there is nothing special about it. */
export function toRules({ metadata, spec }: V1Pod, belongsToNode: boolean): SchedulingRules | undefined {
  if (!spec) return undefined;
  const labels = metadata?.labels ?? {};
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const term = (given: V1PodAffinityTerm): PodTerm => toPodTerm(given, labels);
  const wish = (sign: number) => (given: { weight: number; podAffinityTerm: V1PodAffinityTerm }) => ({
    weight: sign * given.weight,
    term: term(given.podAffinityTerm),
  });
  const rules: SchedulingRules = {
    // A DaemonSet's pod names its node here: no two would be alike, and none ever runs anywhere else.
    nodeAffinity: belongsToNode
      ? undefined
      : nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.map(toNodeTerm),
    nodePreferences: some(
      nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.map(({ weight, preference }) => ({
        weight,
        term: toNodeTerm(preference),
      })),
    ),
    podAffinity: some(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.map(term)),
    podAntiAffinity: some(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.map(term)),
    podPreferences: some([
      ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(wish(1)),
      ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(wish(-1)),
    ]),
    spread: some(spec.topologySpreadConstraints?.map((given) => toSpreadRule(given, labels))),
    ports: some(hostPorts(spec)),
    claims: some(claimNames(metadata?.name ?? '', spec)),
    unmodelled: some(unmodelled(spec)),
  };
  return Object.values(rules).some((part) => part !== undefined) ? rules : undefined;
}

const some = <Item>(list: readonly Item[] | undefined): readonly Item[] | undefined =>
  list && list.length > 0 ? list : undefined;

export const toNodeTerm = ({ matchExpressions, matchFields }: V1NodeSelectorTerm): NodeTerm => ({
  labels: (matchExpressions ?? []).map(toRequirement),
  fields: (matchFields ?? []).map(toRequirement),
});

const toRequirement = (given: { key: string; operator: string; values?: string[] }): Requirement => ({
  key: given.key,
  operator: given.operator,
  values: given.values ?? [],
});

/** No selector selects nothing; that is something else than an empty one. */
export function toSelector(selector: V1LabelSelector | undefined | null): readonly Requirement[] | undefined {
  if (!selector) return undefined;
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => equals(key, value)),
    ...(selector.matchExpressions ?? []).map(toRequirement),
  ];
}

const equals = (key: string, value: string): Requirement => ({ key, operator: 'In', values: [value] });

function toPodTerm(given: V1PodAffinityTerm, labels: Labels): PodTerm {
  const selector = toSelector(given.labelSelector);
  return {
    topologyKey: given.topologyKey,
    selector: selector && [
      ...selector,
      ...ownValues(given.matchLabelKeys, selector, labels),
      ...ownValues(given.mismatchLabelKeys, selector, labels).map((own) => ({ ...own, operator: 'NotIn' })),
    ],
    namespaces: some(given.namespaces),
    namespaceSelector: toSelector(given.namespaceSelector),
  };
}

/** The API server has put them into the selector already, unless the pod never went through one. */
const ownValues = (
  keys: readonly string[] | undefined,
  selector: readonly Requirement[],
  labels: Labels,
): Requirement[] =>
  (keys ?? []).flatMap((key) => {
    const value = labels[key];
    return value === undefined || selector.some((known) => known.key === key) ? [] : [equals(key, value)];
  });

function toSpreadRule(given: V1TopologySpreadConstraint, labels: Labels): SpreadRule {
  const selector = toSelector(given.labelSelector);
  return {
    topologyKey: given.topologyKey,
    selector: selector && [...selector, ...ownValues(given.matchLabelKeys, selector, labels)],
    maxSkew: given.maxSkew,
    minDomains: given.minDomains,
    hard: given.whenUnsatisfiable !== 'ScheduleAnyway',
    ignoresAffinity: given.nodeAffinityPolicy === 'Ignore' || undefined,
    honorsTaints: given.nodeTaintsPolicy === 'Honor' || undefined,
  };
}

/** Of everything that keeps running: a port of an init container is free again before the pod has started. */
function hostPorts({ containers, initContainers, hostNetwork }: V1PodSpec): HostPort[] {
  const sidecars = (initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...containers, ...sidecars]
    .flatMap(({ ports }) => ports ?? [])
    .map(({ hostIP, protocol, hostPort, containerPort }) => ({
      ip: hostIP || '0.0.0.0',
      protocol: protocol ?? 'TCP',
      port: hostPort ?? (hostNetwork ? containerPort : 0),
    }))
    .filter(({ port }) => port > 0);
}

const claimNames = (pod: string, { volumes }: V1PodSpec): string[] =>
  (volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : ephemeral ? [`${pod}-${name}`] : [],
  );

function unmodelled(spec: V1PodSpec): string[] {
  const volumes = spec.volumes ?? [];
  return [
    ...(spec.schedulerName && spec.schedulerName !== 'default-scheduler'
      ? [`scheduler ${spec.schedulerName} has rules of its own`]
      : []),
    ...(spec.resourceClaims?.length ? ['dynamic resource claims'] : []),
    ...(volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral)
      ? ['CSI volume limits and storage capacity']
      : []),
    ...(volumes.some(
      (volume) => volume.gcePersistentDisk ?? volume.awsElasticBlockStore ?? volume.rbd ?? volume.iscsi,
    )
      ? ['disks that one node only may use']
      : []),
  ];
}
