import type {
  V1LabelSelector,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PodAffinityTerm,
  V1PodSpec,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import fc from 'fast-check';
import { distinct, maybe, pick, rarely, record, seldom } from './odds.ts';

/** It has an overhead; the API server must know it. */
export const runtimeClass = 'heavy';
const gate = 'example.com/wait';

const tolerations = fc.array(
  fc.oneof(
    record<Record<string, string>>({
      key: pick('dedicated', 'spot', 'example.com/x', 'node.kubernetes.io/unschedulable'),
      operator: pick('Exists'),
      effect: maybe(pick('NoSchedule', 'NoExecute')),
    }),
    record<Record<string, string>>({
      key: pick('dedicated', 'spot', 'example.com/x'),
      operator: maybe(pick('Equal')),
      value: pick('yes', 'no', ''),
      effect: maybe(pick('NoSchedule', 'NoExecute', 'PreferNoSchedule')),
    }),
    pick<Record<string, string>>({ operator: 'Exists' }, { operator: 'Exists', effect: 'NoSchedule' }),
  ),
  { maxLength: 3 },
);

const nodeExpression: fc.Arbitrary<V1NodeSelectorRequirement> = fc.oneof<
  fc.Arbitrary<V1NodeSelectorRequirement>[]
>(
  fc.record({
    key: pick('disk', 'zone.$', 'rack.$', 'absent'),
    operator: pick('In', 'NotIn'),
    values: fc.uniqueArray(pick('ssd', 'hdd', 'a', 'b', '1'), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: pick('disk', 'zone.$', 'absent'), operator: pick('Exists', 'DoesNotExist') }),
  fc.record({
    key: pick('size', 'disk', 'absent'),
    operator: pick('Gt', 'Lt'),
    values: pick(['4'], ['5'], ['0'], ['100']),
  }),
);
const nodeTerm: fc.Arbitrary<V1NodeSelectorTerm> = record<V1NodeSelectorTerm>({
  matchExpressions: maybe(fc.array(nodeExpression, { minLength: 1, maxLength: 2 }), 9),
  matchFields: seldom(
    fc
      .record({
        key: fc.constant('metadata.name'),
        operator: pick('In', 'NotIn'),
        values: pick(['$-n0'], ['$-n1']),
      })
      .map((field) => [field]),
  ),
});

const app = pick('web', 'web', 'web', 'db');
export const podLabels = record<Record<string, string>>({
  app: maybe(app, 8),
  tier: maybe(pick('front', 'back')),
  version: maybe(pick('1', '2'), 3),
  color: maybe(pick('red', 'green')),
});
const selector: fc.Arbitrary<V1LabelSelector> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ matchLabels: fc.record({ app }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      matchExpressions: fc.array(
        fc.oneof(
          fc.record({
            key: pick('app', 'tier'),
            operator: pick('In', 'NotIn'),
            values: fc.uniqueArray(pick('web', 'db', 'front'), { minLength: 1, maxLength: 2 }),
          }),
          fc.record({ key: pick('app', 'tier'), operator: pick('Exists', 'DoesNotExist') }),
        ),
        { minLength: 1, maxLength: 2 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({}) },
);
const topologyKey = pick('zone.$', 'zone.$', 'zone.$', 'host.$', 'host.$', 'host.$', 'rack.$', 'absent.$');
const podTerm: fc.Arbitrary<V1PodAffinityTerm> = record<V1PodAffinityTerm>({
  topologyKey,
  labelSelector: maybe(selector, 9),
  namespaces: seldom(pick(['red'], ['plain', 'blue'])),
  namespaceSelector: seldom(
    pick<V1LabelSelector>(
      {},
      { matchLabels: { team: 'x' } },
      { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
    ),
  ),
  matchLabelKeys: seldom(pick(['version'])),
  mismatchLabelKeys: seldom(pick(['color'])),
}).map(({ matchLabelKeys, mismatchLabelKeys, ...term }) => ({
  ...term,
  // The API wants something that they can be added to.
  ...(term.labelSelector && matchLabelKeys && { matchLabelKeys }),
  ...(term.labelSelector && mismatchLabelKeys && { mismatchLabelKeys }),
}));

const spreadRule: fc.Arbitrary<V1TopologySpreadConstraint> = record<V1TopologySpreadConstraint>({
  topologyKey: pick('zone.$', 'zone.$', 'zone.$', 'host.$', 'host.$', 'rack.$', 'rack.$', 'absent.$'),
  maxSkew: pick(1, 1, 2),
  labelSelector: maybe(selector, 9),
  whenUnsatisfiable: pick('DoNotSchedule', 'DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway'),
  minDomains: seldom(pick(1, 2, 3)),
  nodeAffinityPolicy: seldom(pick('Honor', 'Ignore')),
  nodeTaintsPolicy: seldom(pick('Honor', 'Ignore')),
  matchLabelKeys: seldom(pick(['version'])),
}).map(({ minDomains, matchLabelKeys, ...rule }) => ({
  ...rule,
  ...(rule.whenUnsatisfiable === 'DoNotSchedule' && minDomains && { minDomains }),
  ...(rule.labelSelector && matchLabelKeys && { matchLabelKeys }),
}));

const port = record<{ containerPort: number; hostPort: number; hostIP?: string; protocol?: string }>({
  containerPort: pick(80),
  hostPort: pick(8080, 8080, 8080, 8081),
  hostIP: seldom(pick('127.0.0.1', '10.0.0.1', '0.0.0.0')),
  protocol: seldom(pick('TCP', 'UDP')),
});
const ports = distinct(
  port,
  ({ hostPort, hostIP, protocol }) => `${hostPort} ${hostIP} ${protocol ?? 'TCP'}`,
  2,
);

const requests = record<Record<string, string>>({
  cpu: maybe(pick('1', '500m', '2', '0')),
  memory: maybe(pick('1Gi', '512Mi', '2G', '0')),
  'ephemeral-storage': seldom(pick('1Gi')),
  'example.com/gpu': seldom(pick('1', '2')),
});
const container = (name: string, more: object = {}) =>
  requests.map((wanted) => ({
    name,
    image: 'pause',
    resources: {
      requests: wanted,
      // An extended resource cannot be overcommitted: its limit must be given.
      ...(wanted['example.com/gpu'] && { limits: { 'example.com/gpu': wanted['example.com/gpu'] } }),
    },
    ...more,
  }));

/** What a pod of a case may be about; each case is about one to three of them. */
const features = {
  resources: fc
    .record({
      containers: fc.tuple(container('main'), maybe(container('second'), 1)),
      init: seldom(container('init')),
      sidecar: seldom(container('sidecar', { restartPolicy: 'Always' })),
      whole: rarely(5),
      heavy: rarely(4),
    })
    .map(({ containers, init, sidecar, whole, heavy }): Partial<V1PodSpec> => {
      const initContainers = [sidecar, init].filter((one) => one !== undefined);
      return {
        containers: containers.filter((one) => one !== undefined),
        ...(initContainers.length > 0 && { initContainers }),
        ...(whole && { resources: { requests: { cpu: '9', memory: '9Gi' } } }),
        ...(heavy && { runtimeClassName: runtimeClass }),
      };
    }),
  taints: tolerations.map((given): Partial<V1PodSpec> => ({ tolerations: given })),
  selector: fc
    .record({
      selector: maybe(pick({ disk: 'ssd' }, { 'zone.$': 'a' }), 1),
      terms: fc.array(nodeTerm, { minLength: 1, maxLength: 2 }),
    })
    .map(
      ({ selector: nodeSelector, terms }): Partial<V1PodSpec> => ({
        ...(nodeSelector && { nodeSelector: nodeSelector as Record<string, string> }),
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
        },
      }),
    ),
  affinity: fc.array(podTerm, { minLength: 1, maxLength: 2 }).map(
    (terms): Partial<V1PodSpec> => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
    }),
  ),
  antiAffinity: fc.array(podTerm, { minLength: 1, maxLength: 2 }).map(
    (terms): Partial<V1PodSpec> => ({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
    }),
  ),
  spread: distinct(spreadRule, (rule) => rule.topologyKey, 2, 1).map(
    (rules): Partial<V1PodSpec> => ({ topologySpreadConstraints: rules }),
  ),
  ports: ports.map(
    (given): Partial<V1PodSpec> => ({ containers: [{ name: 'main', image: 'pause', ports: given }] }),
  ),
  gates: rarely(4).map((gated): Partial<V1PodSpec> => (gated ? { schedulingGates: [{ name: gate }] } : {})),
} satisfies Record<string, fc.Arbitrary<Partial<V1PodSpec>>>;

export type Feature = keyof typeof features;
export const featureNames = Object.keys(features) as Feature[];

/** What a pod of the cluster may have that others must mind. */
export const runningFeatures: readonly Feature[] = [
  'resources',
  'antiAffinity',
  'ports',
  'ports',
  'affinity',
];

export const specWith = (names: readonly Feature[]): fc.Arbitrary<V1PodSpec> =>
  fc.tuple(...names.map((name): fc.Arbitrary<Partial<V1PodSpec>> => features[name])).map((parts) => {
    let spec: V1PodSpec = { containers: [{ name: 'main', image: 'pause' }] };
    for (const part of parts)
      spec = {
        ...spec,
        ...part,
        containers: merged(spec.containers, part.containers),
        ...((spec.affinity || part.affinity) && { affinity: { ...spec.affinity, ...part.affinity } }),
      };
    return spec;
  });

const merged = (ours: V1PodSpec['containers'], theirs: V1PodSpec['containers'] | undefined) =>
  theirs ? theirs.map((one, index) => ({ ...ours[index], ...one })) : ours;
