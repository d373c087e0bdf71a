import type { V1PodAffinityTerm, V1PodSpec, V1TopologySpreadConstraint } from '@kubernetes/client-node';
import { toRules } from '../../shared/adapters/kubernetes/scheduling-rules.ts';
import { toClaim, toStorageClass, toVolume } from '../../shared/adapters/kubernetes/storage.ts';
import type { PodTerm, SpreadRule } from '../../shared/core/cluster/cluster.ts';

const rules = (spec: Partial<V1PodSpec>, labels: Record<string, string> = {}) =>
  toRules({ metadata: { name: 'p', labels }, spec: { containers: [], ...spec } }, false);
const web = { key: 'app', operator: 'In', values: ['web'] };

test('a pod that wants nothing special has no rules', () => {
  expect(rules({ containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] })).toBeUndefined();
});

describe('pod terms', () => {
  const labelSelector = { matchLabels: { app: 'web' } };
  test.each<[string, Partial<V1PodAffinityTerm>, Partial<PodTerm>]>([
    [
      'labels and expressions',
      { labelSelector: { ...labelSelector, matchExpressions: [{ key: 'tier', operator: 'Exists' }] } },
      { selector: [web, { key: 'tier', operator: 'Exists', values: [] }] },
    ],
    ['an empty selector', { labelSelector: {} }, { selector: [] }],
    ['no selector', {}, { selector: undefined }],
    ['all namespaces', { labelSelector, namespaceSelector: {} }, { selector: [web], namespaceSelector: [] }],
    [
      'labels whose value is the pod’s own',
      { labelSelector, matchLabelKeys: ['version', 'absent'] },
      { selector: [web, { key: 'version', operator: 'In', values: ['1'] }] },
    ],
    [
      'labels whose value is not',
      { labelSelector, mismatchLabelKeys: ['version'] },
      { selector: [web, { key: 'version', operator: 'NotIn', values: ['1'] }] },
    ],
    [
      'what the API server has put into the selector already',
      {
        labelSelector: { matchExpressions: [{ key: 'version', operator: 'In', values: ['0'] }] },
        matchLabelKeys: ['version'],
      },
      { selector: [{ key: 'version', operator: 'In', values: ['0'] }] },
    ],
  ])('%s', (_, given, expected) => {
    const terms = [{ topologyKey: 'zone', ...given }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    expect(rules({ affinity }, { version: '1' })?.podAntiAffinity).toEqual([
      { topologyKey: 'zone', namespaces: undefined, namespaceSelector: undefined, ...expected },
    ]);
  });
  test('wishes to be near are positive, to be away negative', () => {
    const preferred = [{ weight: 7, podAffinityTerm: { topologyKey: 'zone', labelSelector } }];
    const one = { preferredDuringSchedulingIgnoredDuringExecution: preferred };
    const wishes = rules({ affinity: { podAffinity: one, podAntiAffinity: one } })?.podPreferences;
    expect(wishes?.map(({ weight }) => weight)).toEqual([7, -7]);
  });
});

test.each<[string, Partial<V1TopologySpreadConstraint>, Partial<SpreadRule>]>([
  ['hard', {}, { hard: true }],
  ['a wish', { whenUnsatisfiable: 'ScheduleAnyway' }, { hard: false }],
  ['all nodes count', { nodeAffinityPolicy: 'Ignore' }, { ignoresAffinity: true }],
  ['tolerated nodes count', { nodeTaintsPolicy: 'Honor' }, { honorsTaints: true }],
  ['domains', { minDomains: 3 }, { minDomains: 3 }],
  [
    'its own version',
    { matchLabelKeys: ['version'] },
    { selector: [web, { key: 'version', operator: 'In', values: ['1'] }] },
  ],
])('spread: %s', (_, given, expected) => {
  const constraint = {
    topologyKey: 'zone',
    maxSkew: 2,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'web' } },
    ...given,
  };
  expect(rules({ topologySpreadConstraints: [constraint] }, { version: '1' })?.spread).toMatchObject([
    { topologyKey: 'zone', maxSkew: 2, selector: [web], ...expected },
  ]);
});

test('host ports: of containers and sidecars, not of init containers; all of a pod in the host’s network', () => {
  const port = (hostPort: number, more = {}) => ({ ports: [{ containerPort: 1, hostPort, ...more }] });
  const initContainers = [
    { name: 'init', ...port(1) },
    { name: 'sidecar', restartPolicy: 'Always', ...port(2, { protocol: 'UDP', hostIP: '10.0.0.1' }) },
  ];
  expect(rules({ containers: [{ name: 'main', ...port(3) }], initContainers })?.ports).toEqual([
    { ip: '0.0.0.0', protocol: 'TCP', port: 3 },
    { ip: '10.0.0.1', protocol: 'UDP', port: 2 },
  ]);
  const containers = [{ name: 'main', ports: [{ containerPort: 80 }] }];
  expect(rules({ containers, hostNetwork: true })?.ports).toMatchObject([{ port: 80 }]);
});

test('claims, those made for the pod by its own name; what is not judged is said', () => {
  const volumes = [
    { name: 'data', persistentVolumeClaim: { claimName: 'claim' } },
    { name: 'scratch', ephemeral: {} },
  ];
  expect(rules({ volumes })?.claims).toEqual(['claim', 'p-scratch']);
  expect(rules({ volumes, schedulerName: 'other', resourceClaims: [{ name: 'gpu' }] })?.unmodelled).toEqual([
    'scheduler other has rules of its own',
    'dynamic resource claims',
    'CSI volume limits and storage capacity',
  ]);
});

describe('storage', () => {
  test('a volume: for whom, where, in which zones', () => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }];
    expect(
      toVolume({
        metadata: { name: 'v', labels: { 'topology.kubernetes.io/zone': 'a__b', other: 'x' } },
        spec: {
          capacity: { storage: '2Gi' },
          storageClassName: 'fast',
          claimRef: { namespace: 'n', name: 'c' },
          nodeAffinity: { required: { nodeSelectorTerms } },
        },
        status: { phase: 'Available' },
      }),
    ).toMatchObject({
      storageClass: 'fast',
      capacity: 2 ** 31,
      available: true,
      claim: { namespace: 'n', name: 'c', uid: undefined },
      nodeAffinity: [{ labels: [{ key: 'disk', operator: 'In', values: ['ssd'] }], fields: [] }],
      zones: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] }],
    });
  });
  test.each([
    ['both sides agree', { 'pv.kubernetes.io/bind-completed': 'yes' }, true],
    ['only the name is set', {}, false],
  ])('a claim is bound when %s', (_, annotations, bound) => {
    expect(toClaim({ metadata: { annotations }, spec: { volumeName: 'v' } })).toMatchObject({
      volume: 'v',
      bound,
    });
  });
  test('a class that nobody provisions has no provisioner; topologies are terms', () => {
    expect(toStorageClass({ provisioner: 'kubernetes.io/no-provisioner' }).provisioner).toBeUndefined();
    const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }];
    expect(
      toStorageClass({ provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies }),
    ).toMatchObject({
      waits: true,
      provisioner: 'x',
      topologies: [{ labels: [{ key: 'zone', operator: 'In', values: ['a'] }], fields: [] }],
    });
  });
});
