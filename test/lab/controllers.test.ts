import type { Draft, Pod } from '../../simulator/lab/api/objects.ts';
import {
  deployments,
  events,
  jobs,
  leases,
  nodes,
  pods,
  replicaSets,
} from '../../simulator/lab/api/resource-types.ts';
import { Store } from '../../simulator/lab/api/store.ts';
import { type ControllerOptions, startControllers } from '../../simulator/lab/controllers/index.ts';
import { manualClock } from '../../simulator/lab/rack/clock.ts';
import { nodeObject } from '../../tools/worlds/cluster-kubelet.ts';

const podDraft = (name: string, spec: Partial<Pod['spec']> = {}, cpu = '1'): Draft<Pod> => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec },
});

/** A cluster in which nothing happens unless told: its clock stands still and its work waits for drain. */
function makeCluster(options: ControllerOptions = {}) {
  const clock = manualClock(Date.parse('2030-01-01T00:00:00Z'));
  const store = new Store({ clock });
  const controllers = startControllers({ store }, { clock, ...options });
  const readiness = (name: string) =>
    store.get(nodes, undefined, name)?.status.conditions?.find(({ type }) => type === 'Ready')?.status;
  const taints = (name: string) =>
    (store.get(nodes, undefined, name)?.spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
  const heartbeat = (name: string) => {
    const renewTime = new Date(clock.now()).toISOString();
    const lease = store.get(leases, 'kube-node-lease', name);
    if (lease) store.update(leases, { ...lease, spec: { renewTime } });
    else store.create(leases, { metadata: { name, namespace: 'kube-node-lease' }, spec: { renewTime } });
  };
  const setReady = (pod: Pod, phase = 'Running') => {
    const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }];
    store.modify(
      pods,
      pod,
      (current) => ({ ...current, status: { ...current.status, phase, conditions } }),
      'status',
    );
  };
  const pod = (name: string) => store.get(pods, 'default', name);
  return {
    clock,
    store,
    controllers,
    readiness,
    taints,
    heartbeat,
    setReady,
    pod,
    drain: () => controllers.drain(),
  };
}

type Cluster = ReturnType<typeof makeCluster>;

/** Lets time pass in steps, as the controllers' work may set timers. */
function pass({ clock, controllers }: Cluster, seconds: number, every = () => {}): void {
  for (let second = 0; second < seconds; second += 5) {
    every();
    clock.advance(5_000);
    controllers.drain();
  }
}

describe('node lifecycle', () => {
  test('a node is Ready as long as its lease is renewed, Unknown and tainted after, and recovers', () => {
    const cluster = makeCluster();
    cluster.store.create(nodes, nodeObject('a'));
    cluster.drain();
    expect(cluster.taints('a')).toEqual([]);
    pass(cluster, 120, () => cluster.heartbeat('a'));
    expect(cluster.readiness('a')).toBe('True');
    pass(cluster, 30);
    expect(cluster.readiness('a')).toBe('True');
    pass(cluster, 15);
    expect(cluster.readiness('a')).toBe('Unknown');
    expect(cluster.taints('a')).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    cluster.heartbeat('a');
    const node = cluster.store.find(nodes, undefined, 'a');
    cluster.store.update(nodes, { ...node, status: nodeObject('a').status }, 'status');
    cluster.drain();
    expect(cluster.taints('a')).toEqual([]);
    cluster.controllers.stop();
  });

  test('a node that says it is not ready is tainted not-ready and its pods are no longer ready', () => {
    const cluster = makeCluster();
    const node = cluster.store.create(nodes, nodeObject('a'));
    cluster.drain();
    const pod = cluster.store.create(pods, podDraft('p'));
    cluster.drain();
    cluster.setReady(pod);
    const conditions = [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady' }];
    cluster.store.modify(nodes, node, (one) => ({ ...one, status: { ...one.status, conditions } }), 'status');
    cluster.drain();
    expect(cluster.taints('a')).toEqual([
      'node.kubernetes.io/not-ready:NoSchedule',
      'node.kubernetes.io/not-ready:NoExecute',
    ]);
    expect(cluster.pod('p')?.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False' }),
    );
    cluster.controllers.stop();
  });

  test('pods leave an unreachable node after their toleration, but stay terminating; back in time they stay', () => {
    const cluster = makeCluster();
    cluster.store.create(nodes, nodeObject('a'));
    cluster.drain();
    const second = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
    cluster.store.create(pods, podDraft('five-minutes'));
    cluster.store.create(pods, podDraft('a-minute', { tolerations: [{ ...second, tolerationSeconds: 60 }] }));
    cluster.store.create(pods, podDraft('for-ever', { tolerations: [second] }));
    cluster.drain();
    pass(cluster, 40 + 70);
    expect(cluster.pod('a-minute')?.metadata.deletionTimestamp).toBeDefined();
    expect(cluster.pod('five-minutes')?.metadata.deletionTimestamp).toBeUndefined();
    const node = cluster.store.find(nodes, undefined, 'a');
    cluster.store.update(nodes, { ...node, status: nodeObject('a').status }, 'status');
    pass(cluster, 600, () => cluster.heartbeat('a'));
    expect(cluster.pod('five-minutes')?.metadata.deletionTimestamp).toBeUndefined();
    pass(cluster, 40 + 310);
    expect(cluster.pod('five-minutes')?.metadata.deletionTimestamp).toBeDefined();
    expect(cluster.pod('for-ever')?.metadata.deletionTimestamp).toBeUndefined();
    cluster.controllers.stop();
  });

  test('pods of a removed node are deleted, unless the node comes back in time', () => {
    const cluster = makeCluster();
    for (const name of ['gone', 'back']) {
      cluster.store.create(nodes, nodeObject(name));
      cluster.store.create(pods, {
        ...podDraft(`on-${name}`),
        spec: { ...podDraft('').spec, containers: [{ name: 'c', image: 'i' }], nodeName: name },
      });
    }
    cluster.drain();
    for (const name of ['gone', 'back']) cluster.store.delete(nodes, undefined, name);
    pass(cluster, 20);
    cluster.store.create(nodes, nodeObject('back'));
    pass(cluster, 30);
    expect(cluster.pod('on-gone')).toBeUndefined();
    expect(cluster.pod('on-back')).toBeDefined();
    cluster.controllers.stop();
  });

  test('terminating pods of a node that is out of service are let go', () => {
    const cluster = makeCluster();
    cluster.store.create(nodes, nodeObject('a'));
    cluster.drain();
    cluster.store.create(pods, podDraft('p', { tolerations: [{ operator: 'Exists' }] }));
    cluster.drain();
    cluster.store.delete(pods, 'default', 'p');
    pass(cluster, 50);
    expect(cluster.pod('p')?.metadata.deletionTimestamp).toBeDefined();
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };
    const node = cluster.store.find(nodes, undefined, 'a');
    cluster.store.update(nodes, {
      ...node,
      spec: { ...node.spec, taints: [...(node.spec.taints ?? []), taint] },
    });
    cluster.drain();
    expect(cluster.pod('p')).toBeUndefined();
    cluster.controllers.stop();
  });
});

describe('scheduler', () => {
  test('10,000 waiting pods are told once, and a heartbeat of a node writes nothing', () => {
    const cluster = makeCluster();
    const node = cluster.store.create(nodes, nodeObject('a', { cpu: '1' }));
    for (let index = 0; index < 10_000; index++) cluster.store.create(pods, podDraft(`p-${index}`, {}, '2'));
    cluster.drain();
    expect(cluster.pod('p-9999')?.status.conditions).toMatchObject([
      { type: 'PodScheduled', reason: 'Unschedulable' },
    ]);
    const before = cluster.store.version;
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2030-01-01T00:00:10Z' }];
    cluster.store.modify(nodes, node, (one) => ({ ...one, status: { ...one.status, conditions } }), 'status');
    cluster.drain();
    expect(cluster.store.version).toBe(before + 1);
    cluster.controllers.stop();
  });

  test('higher priority goes first when room is short', () => {
    const cluster = makeCluster();
    cluster.store.create(pods, podDraft('low', {}, '2'));
    cluster.store.create(pods, podDraft('high', { priorityClassName: 'system-cluster-critical' }, '2'));
    cluster.store.create(nodes, nodeObject('a', { cpu: '3' }));
    cluster.drain();
    expect(cluster.pod('high')?.spec.nodeName).toBe('a');
    expect(cluster.pod('low')?.spec.nodeName).toBeUndefined();
    cluster.controllers.stop();
  });

  test.each([
    ['least-allocated', 2],
    ['most-allocated', 1],
  ] as const)('%s spreads or packs', (prefer, used) => {
    const cluster = makeCluster({ prefer });
    for (const name of ['a', 'b']) cluster.store.create(nodes, nodeObject(name));
    cluster.drain();
    for (const name of ['p', 'q']) {
      cluster.store.create(pods, podDraft(name));
      cluster.drain();
    }
    expect(new Set(['p', 'q'].map((name) => cluster.pod(name)?.spec.nodeName)).size).toBe(used);
    cluster.controllers.stop();
  });

  test('no pod is put on a node beyond what it has, however many come at once', () => {
    const cluster = makeCluster();
    for (const name of ['a', 'b', 'c']) cluster.store.create(nodes, nodeObject(name, { cpu: '4' }));
    for (let index = 0; index < 20; index++) cluster.store.create(pods, podDraft(`p-${index}`, {}, '1500m'));
    cluster.drain();
    const counts = new Map<string, number>();
    for (const { spec } of cluster.store.list(pods))
      if (spec.nodeName) counts.set(spec.nodeName, (counts.get(spec.nodeName) ?? 0) + 1);
    expect([...counts.values()]).toEqual([2, 2, 2]);
    cluster.controllers.stop();
  });

  test('init containers count when they need more, sidecars always', () => {
    const cluster = makeCluster();
    cluster.store.create(nodes, nodeObject('a', { cpu: '4' }));
    const cpu = (amount: string) => ({ requests: { cpu: amount } });
    const containers = [{ name: 'c', image: 'i', resources: cpu('1') }];
    const sidecar = { name: 's', image: 'i', restartPolicy: 'Always', resources: cpu('1') };
    const init = (amount: string) => ({ name: 'i', image: 'i', resources: cpu(amount) });
    cluster.store.create(
      pods,
      podDraft('too-much', { containers, initContainers: [sidecar, init('3500m')] }),
    );
    cluster.store.create(pods, podDraft('fits', { containers, initContainers: [init('2'), sidecar] }));
    cluster.drain();
    expect(cluster.pod('too-much')?.spec.nodeName).toBeUndefined();
    expect(cluster.pod('fits')?.spec.nodeName).toBe('a');
    cluster.store.create(pods, podDraft('rest', {}, '2'));
    cluster.drain();
    expect(cluster.pod('rest')?.spec.nodeName).toBe('a');
    cluster.controllers.stop();
  });
});

describe('workloads', () => {
  const template = (image: string) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image }] },
  });
  const selector = { matchLabels: { app: 'web' } };

  test('a rolling update keeps within its surge and what may be unavailable, at every step', () => {
    const cluster = makeCluster();
    const { store } = cluster;
    cluster.store.create(nodes, nodeObject('a'));
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
    const deployment = store.create(deployments, {
      metadata: { name: 'web' },
      spec: { replicas: 4, selector, strategy, template: template('web:1') },
    });
    const running = () => [...store.list(pods)].filter(({ metadata }) => !metadata.deletionTimestamp);
    const readyOnes = () => running().filter(({ status }) => status.phase === 'Running');
    cluster.drain();
    for (const pod of running()) cluster.setReady(pod);
    cluster.drain();
    store.modify(deployments, deployment, (one) => ({
      ...one,
      spec: { ...one.spec, template: template('web:2') },
    }));
    for (let step = 0; step < 40; step++) {
      cluster.drain();
      expect(running().length).toBeLessThanOrEqual(5);
      expect(readyOnes().length).toBeGreaterThanOrEqual(3);
      const leaving = [...store.list(pods)].find(({ metadata }) => metadata.deletionTimestamp);
      const starting = running().find(({ status }) => status.phase === 'Pending');
      if (leaving) store.delete(pods, 'default', leaving.metadata.name, { gracePeriodSeconds: 0 });
      else if (starting) cluster.setReady(starting);
      else break;
    }
    expect(running().map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(4).fill('web:2'));
    expect([...store.list(replicaSets)].map(({ spec }) => spec.replicas).toSorted()).toEqual([0, 4]);
    cluster.controllers.stop();
  });

  test('Recreate starts nothing before everything old is gone', () => {
    const cluster = makeCluster();
    const { store } = cluster;
    store.create(nodes, nodeObject('a'));
    const deployment = store.create(deployments, {
      metadata: { name: 'web' },
      spec: { replicas: 2, selector, strategy: { type: 'Recreate' }, template: template('web:1') },
    });
    cluster.drain();
    store.modify(deployments, deployment, (one) => ({
      ...one,
      spec: { ...one.spec, template: template('web:2') },
    }));
    cluster.drain();
    const images = () => [...store.list(pods)].map(({ spec }) => spec.containers[0]?.image);
    expect(images()).toEqual(['web:1', 'web:1']);
    for (const { metadata } of [...store.list(pods)])
      store.delete(pods, 'default', metadata.name, { gracePeriodSeconds: 0 });
    cluster.drain();
    expect(images()).toEqual(['web:2', 'web:2']);
    cluster.controllers.stop();
  });

  test('a Job counts evicted pods as failed, makes new ones, and gives up after its backoff limit', () => {
    const cluster = makeCluster();
    const { store } = cluster;
    store.create(nodes, nodeObject('a'));
    store.create(jobs, {
      metadata: { name: 'once' },
      spec: {
        backoffLimit: 1,
        selector: {},
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const current = () => [...store.list(pods)].find(({ metadata }) => !metadata.deletionTimestamp);
    const seen = new Set<string>();
    for (let round = 0; round < 4; round++) {
      cluster.drain();
      const pod = current();
      if (!pod) break;
      seen.add(pod.metadata.uid);
      store.delete(pods, 'default', pod.metadata.name, { gracePeriodSeconds: 0 });
    }
    expect(seen.size).toBe(2);
    expect(store.get(jobs, 'default', 'once')?.status).toMatchObject({
      failed: 2,
      conditions: [
        { type: 'FailureTarget' },
        { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' },
      ],
    });
    cluster.controllers.stop();
  });

  test('Events are forgotten after a while', () => {
    const cluster = makeCluster({ eventTtlMs: 60_000 });
    cluster.store.create(pods, podDraft('p'));
    cluster.drain();
    expect([...cluster.store.list(events)]).toHaveLength(1);
    pass(cluster, 125);
    expect([...cluster.store.list(events)]).toEqual([]);
    cluster.controllers.stop();
  });
});
