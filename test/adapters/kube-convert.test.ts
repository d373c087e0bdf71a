import type { V1Container, V1NodeSystemInfo, V1ObjectMeta, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import { toDaemonSet, toNode, toPod } from '../../shared/adapters/kubernetes/convert.ts';
import { createShare } from '../../shared/adapters/kubernetes/share.ts';

const container = (requests: Record<string, string>, more: Partial<V1Container> = {}): V1Container => ({
  name: 'main',
  resources: { requests },
  ...more,
});
const ownedBy = (kind: string): V1ObjectMeta => ({
  ownerReferences: [{ kind, name: 'owner', uid: 'o', apiVersion: 'apps/v1', controller: true }],
});
const pod = (metadata: V1ObjectMeta = {}, spec: Partial<V1PodSpec> = {}): V1Pod => ({
  metadata,
  spec: { containers: [container({})], ...spec },
});

describe('what a pod asks for, as kube-scheduler counts', () => {
  const requests = (spec: Partial<V1PodSpec>) => toPod(pod({}, spec)).requests;
  const sidecar = { name: 'sidecar', restartPolicy: 'Always' };
  test.each<[string, Partial<V1PodSpec>, Record<string, number>]>([
    ['nothing', {}, {}],
    [
      'all containers together',
      {
        containers: [
          container({ cpu: '1500m', memory: '1Gi' }),
          container({ cpu: '500m', 'nvidia.com/gpu': '1' }),
        ],
      },
      { cpu: 2000, memory: 2 ** 30, 'nvidia.com/gpu': 1 },
    ],
    [
      'the largest init container, when that is more',
      {
        initContainers: [container({ cpu: '3' }), container({ cpu: '2', memory: '4Gi' })],
        containers: [container({ cpu: '1', memory: '8Gi' })],
      },
      { cpu: 3000, memory: 8 * 2 ** 30 },
    ],
    [
      'sidecars beside the containers',
      { initContainers: [container({ cpu: '1' }, sidecar)], containers: [container({ cpu: '1' })] },
      { cpu: 2000 },
    ],
    [
      'sidecars beside the init containers after them, not before',
      {
        initContainers: [container({ cpu: '4' }), container({ cpu: '1' }, sidecar), container({ cpu: '4' })],
        containers: [container({ cpu: '1' })],
      },
      { cpu: 5000 },
    ],
    [
      'what the runtime itself takes, on top',
      { overhead: { cpu: '250m', memory: '120Mi' }, containers: [container({ cpu: '1' })] },
      { cpu: 1250, memory: 120 * 2 ** 20 },
    ],
    [
      'what is asked for the pod as a whole, instead of its containers',
      {
        resources: { requests: { cpu: '3' } },
        overhead: { cpu: '250m' },
        containers: [container({ cpu: '1', memory: '1Gi' })],
      },
      { cpu: 3250, memory: 2 ** 30 },
    ],
  ])('%s', (_, spec, expected) => {
    expect(requests(spec)).toEqual(expected);
  });
});

describe('whose a pod is', () => {
  test.each<[string, V1ObjectMeta, boolean]>([
    ['a DaemonSet’s', ownedBy('DaemonSet'), true],
    ['a Node’s', ownedBy('Node'), true],
    ['a mirror of a static pod', { annotations: { 'kubernetes.io/config.mirror': 'hash' } }, true],
    ['a ReplicaSet’s', ownedBy('ReplicaSet'), false],
    ['nobody’s', {}, false],
  ])('%s', (_, metadata, belongsToNode) => {
    expect(toPod(pod(metadata)).belongsToNode).toBe(belongsToNode);
  });
});

describe('which pods lose nothing when they are started elsewhere', () => {
  const volume = (more: object): Partial<V1PodSpec> => ({ volumes: [{ name: 'v', ...more }] });
  const annotated = (annotations: Record<string, string>) => ({ ...ownedBy('ReplicaSet'), annotations });
  test.each<[string, V1ObjectMeta, Partial<V1PodSpec>, boolean]>([
    ['a ReplicaSet’s', ownedBy('ReplicaSet'), {}, true],
    ['a StatefulSet’s', ownedBy('StatefulSet'), {}, true],
    ['a ReplicationController’s', ownedBy('ReplicationController'), {}, true],
    ['a Job’s would begin again', ownedBy('Job'), {}, false],
    ['nobody starts it again', {}, {}, false],
    ['scratch space on disk is lost', ownedBy('ReplicaSet'), volume({ emptyDir: {} }), false],
    ['scratch space in memory', ownedBy('ReplicaSet'), volume({ emptyDir: { medium: 'Memory' } }), true],
    ['files of the node', ownedBy('ReplicaSet'), volume({ hostPath: { path: '/data' } }), false],
    ['a ConfigMap', ownedBy('ReplicaSet'), volume({ configMap: { name: 'c' } }), true],
    ['told not to', annotated({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' }), {}, false],
    [
      'told that it is fine',
      annotated({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' }),
      {},
      true,
    ],
    ['told not to, in Karpenter’s words', annotated({ 'karpenter.sh/do-not-disrupt': 'true' }), {}, false],
  ])('%s', (_, metadata, spec, movable) => {
    expect(toPod(pod(metadata, spec)).movable).toBe(movable);
  });
});

test.each([
  ['Pending', false],
  ['Running', false],
  ['Unknown', false],
  ['Succeeded', true],
  ['Failed', true],
])('a pod that is %s is finished: %s', (phase, finished) => {
  expect(toPod({ ...pod(), status: { phase } }).finished).toBe(finished);
});

test.each([
  ['the scheduler found no node', 'Unschedulable', 'False', 'no node fits'],
  ['a gate holds it back: no demand yet', 'SchedulingGated', 'False', undefined],
  ['it was scheduled', undefined, 'True', undefined],
])('%s', (_, reason, status, unschedulable) => {
  const conditions = [{ type: 'PodScheduled', status, message: 'no node fits', ...(reason && { reason }) }];
  expect(toPod({ ...pod(), status: { conditions } }).unschedulable).toBe(unschedulable);
});

test('a date from a list and the text of a watch are the same time', () => {
  const text = '2026-01-01T00:00:00Z';
  const created = (creationTimestamp: unknown) => toPod(pod({ creationTimestamp } as V1ObjectMeta)).createdAt;
  expect(created(text)).toBe(Date.UTC(2026, 0, 1));
  expect(created(new Date(text))).toBe(Date.UTC(2026, 0, 1));
});

test('what makes a node known again: its provider’s id, its system’s and its boot’s', () => {
  const status = {
    nodeInfo: { systemUUID: 'S', bootID: 'B' } as V1NodeSystemInfo,
    conditions: [
      { type: 'Ready', status: 'Unknown' },
      { type: 'MemoryPressure', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
    ],
    allocatable: { cpu: '3920m', memory: '15Gi', 'nvidia.com/gpu': '2' },
  };
  expect(toNode({ metadata: { name: 'n' }, spec: { providerID: 'P' }, status })).toEqual({
    name: 'n',
    ready: false,
    silent: true,
    unschedulable: false,
    labels: {},
    annotations: {},
    taints: [],
    allocatable: { cpu: 3920, memory: 15 * 2 ** 30, 'nvidia.com/gpu': 2 },
    providerID: 'P',
    systemUUID: 'S',
    bootID: 'B',
    pressure: ['MemoryPressure'],
  });
});

test('what scaling goes by: labels, priority, controller, gates, where room is made, what stays on the disk', () => {
  const metadata = {
    ...ownedBy('ReplicaSet'),
    labels: { app: 'web' },
    annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false', 'example.com/long': 'text' },
  };
  const spec = {
    priority: -5,
    schedulingGates: [{ name: 'wait' }],
    volumes: [
      { name: 'scratch', emptyDir: {} },
      { name: 'config', configMap: {} },
    ],
  };
  expect(toPod({ ...pod(metadata, spec), status: { nominatedNodeName: 'n1' } })).toMatchObject({
    labels: { app: 'web' },
    annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
    priority: -5,
    owner: { kind: 'ReplicaSet', name: 'owner', uid: 'o' },
    gates: ['wait'],
    nominatedNode: 'n1',
    localVolumes: ['scratch'],
  });
});

test('a pod that is being resized counts with the larger of what it has and what it is to get', () => {
  const spec = { containers: [container({ cpu: '1' })] };
  const containerStatuses = [
    {
      name: 'main',
      image: '',
      imageID: '',
      ready: true,
      restartCount: 0,
      resources: { requests: { cpu: '3' } },
      allocatedResources: { cpu: '2' },
    },
  ];
  const requests = (larger: string, reason: string) =>
    toPod({
      ...pod({}, { containers: [container({ cpu: larger })] }),
      status: { containerStatuses, conditions: [{ type: 'PodResizePending', status: 'True', reason }] },
    }).requests;
  expect(toPod({ ...pod({}, spec), status: { containerStatuses } }).requests).toEqual({ cpu: 3000 });
  expect(requests('4', 'Deferred')).toEqual({ cpu: 4000 });
  expect(requests('4', 'Infeasible')).toEqual({ cpu: 3000 });
});

test('pods of one template share what they have in common, and only that', () => {
  const share = createShare();
  const one = (name: string, cpu: string) =>
    toPod(
      pod({ name, labels: { app: 'web' } }, { containers: [container({ cpu })], nodeSelector: { a: 'b' } }),
      share,
    );
  const [a, b, c] = [one('a', '1'), one('b', '1'), one('c', '2')];
  expect(a.requests).toBe(b.requests);
  expect(a.labels).toBe(b.labels);
  expect(a.nodeSelector).toBe(c.nodeSelector);
  expect(c.requests).toEqual({ cpu: 2000 });
});

test('a DaemonSet’s template is a pod that belongs to its node, with the nodes it is for', () => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }];
  const template = {
    metadata: { labels: { app: 'log' } },
    spec: {
      containers: [container({ cpu: '100m' })],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    },
  };
  expect(
    toDaemonSet({ metadata: { namespace: 'kube-system', name: 'log' }, spec: { selector: {}, template } }),
  ).toMatchObject({
    namespace: 'kube-system',
    name: 'log',
    template: {
      belongsToNode: true,
      requests: { cpu: 100 },
      rules: { nodeAffinity: [{ labels: [{ key: 'gpu', operator: 'Exists', values: [] }], fields: [] }] },
    },
  });
});

test('a pod that belongs to its node is not told from its like by the node it names', () => {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  expect(toPod(pod(ownedBy('DaemonSet'), { affinity })).rules).toBeUndefined();
  expect(toPod(pod(ownedBy('ReplicaSet'), { affinity })).rules?.nodeAffinity).toHaveLength(1);
});
