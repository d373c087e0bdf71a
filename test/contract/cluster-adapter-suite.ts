import {
  AppsV1Api,
  CoreV1Api,
  EventsV1Api,
  KubeConfig,
  PolicyV1Api,
  StorageV1Api,
  type V1PodSpec,
} from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { type Cluster, ClusterError } from '../../shared/ports/cluster.ts';
import { createLog } from '../../shared/process/log.ts';
import { type CutProxy, startProxy } from '../../tools/support/cut-proxy.ts';
import { eventually } from '../../tools/support/eventually.ts';
import {
  type ClusterHarness,
  freshNamespace,
  isReady,
  pause,
  podSpec,
  until,
} from '../../tools/worlds/cluster-client.ts';

/** Time that passes faster, so that nobody waits ten seconds to see that ten seconds are too long. */
export function fastClock(speed: number): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * speed,
    monotonic: () => (Date.now() - start) * speed,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', finish);
          resolve();
        };
        const timer = setTimeout(finish, ms / speed);
        signal?.addEventListener('abort', finish);
      }),
  };
}

/** The same access by another port of 127.0.0.1. */
export function throughPort(kubeConfig: KubeConfig, port: number): KubeConfig {
  const [cluster, user] = [kubeConfig.getCurrentCluster(), kubeConfig.getCurrentUser()];
  if (!cluster || !user) throw new Error('the harness gave a kubeconfig without a cluster');
  const { protocol } = new URL(cluster.server);
  const other = new KubeConfig();
  other.loadFromClusterAndUser({ ...cluster, server: `${protocol}//127.0.0.1:${port}` }, user);
  return other;
}

interface Told {
  readonly name: string;
  readonly now: boolean;
  readonly before: boolean;
  readonly terminating: boolean | undefined;
}

/** The port Cluster as the API server fulfils it, on a server that a test can take away. */
export function clusterAdapterContract(name: string, start: () => Promise<ClusterHarness>): void {
  describe(`the cluster adapter on ${name}:`, () => {
    let harness: ClusterHarness;
    let proxy: CutProxy;
    let cluster: Cluster & { close(): void };
    let core: CoreV1Api;
    let namespace = '';
    const podsTold: Told[] = [];
    const nodesTold: string[] = [];

    beforeAll(async () => {
      harness = await start();
      core = harness.kubeConfig.makeApiClient(CoreV1Api);
      proxy = await startProxy(Number(new URL(harness.kubeConfig.getCurrentCluster()?.server ?? '').port));
      cluster = createKubeCluster({
        transport: kubeTransport(throughPort(harness.kubeConfig, proxy.port)),
        clock: fastClock(10),
        log: createLog({ level: 'silent', format: 'json' }),
        onPod: (now, before) =>
          podsTold.push({
            name: `${(now ?? before)?.namespace}/${(now ?? before)?.name}`,
            now: now !== undefined,
            before: before !== undefined,
            terminating: now?.terminating,
          }),
        onNode: (now, before) =>
          nodesTold.push(`${(now ?? before)?.name} ${before?.unschedulable} → ${now?.unschedulable}`),
      });
    }, 600_000);
    beforeEach(async () => {
      namespace = await freshNamespace(harness.kubeConfig);
    });
    afterEach(async () => {
      await core.deleteNamespace({ name: namespace });
    });
    afterAll(async () => {
      cluster?.close();
      await proxy?.close();
      await harness?.close();
    });

    const createPod = (podName: string, spec: V1PodSpec, metadata: object = {}) =>
      core.createNamespacedPod({ namespace, body: { metadata: { name: podName, ...metadata }, spec } });
    /** One that no scheduler takes, for what does not depend on where it runs. */
    const createIdle = (podName: string, metadata: object = {}) =>
      createPod(podName, { ...podSpec(), schedulerName: 'nobody' }, metadata);
    const deletePod = (podName: string) =>
      core.deleteNamespacedPod({ namespace, name: podName, gracePeriodSeconds: 0 });
    const pods = async (): Promise<Map<string, Pod>> => {
      const mine = (await cluster.view()).pods.filter((pod) => pod.namespace === namespace);
      return new Map(mine.map((pod) => [pod.name, pod]));
    };
    const names = async () => [...(await pods()).keys()].sort();
    const node = async (nodeName: string) =>
      (await cluster.view()).nodes.find((one) => one.name === nodeName);
    const withNode = async (work: (nodeName: string) => Promise<void>) => {
      const nodeName = `${namespace}-node`;
      await harness.addNode(nodeName, { labels: { 'contract/node': namespace } });
      await work(nodeName).finally(() => core.deleteNode({ name: nodeName }).catch(ignoreMissing));
    };
    /** Its pods run on this test's node only. */
    const deploy = async (app: string, replicas: number, spec: Partial<V1PodSpec> = {}) => {
      await harness.kubeConfig.makeApiClient(AppsV1Api).createNamespacedDeployment({
        namespace,
        body: {
          metadata: { name: app },
          spec: {
            replicas,
            selector: { matchLabels: { app } },
            template: {
              metadata: { labels: { app } },
              spec: {
                nodeSelector: { 'contract/node': namespace },
                terminationGracePeriodSeconds: 1,
                containers: [pause],
                ...spec,
              },
            },
          },
        },
      });
      await until(`${app} runs`, async () => {
        const { items } = await core.listNamespacedPod({ namespace, labelSelector: `app=${app}` });
        return items.length === replicas && items.every(isReady);
      });
    };

    test('a view sees pods come, change and go', async () => {
      await createIdle('one');
      await createIdle('two');
      await eventually(async () => expect(await names()).toEqual(['one', 'two']));
      await core.replaceNamespacedPodStatus({
        namespace,
        name: 'one',
        body: {
          ...(await core.readNamespacedPod({ namespace, name: 'one' })),
          status: { phase: 'Succeeded' },
        },
      });
      await eventually(async () => {
        const seen = await pods();
        expect([seen.get('one')?.finished, seen.get('two')?.finished]).toEqual([true, false]);
      });
      await deletePod('one');
      await eventually(async () => expect(await names()).toEqual(['two']));
    });

    test('a view sees nodes come, change and go', () =>
      withNode(async (nodeName) => {
        await eventually(async () =>
          expect(await node(nodeName)).toMatchObject({
            ready: true,
            unschedulable: false,
            labels: { 'kubernetes.io/hostname': nodeName },
            allocatable: { cpu: 4000, memory: 8 * 2 ** 30, pods: 110 },
          }),
        );
        await cluster.changeNode(nodeName, { unschedulable: true });
        await eventually(async () => expect((await node(nodeName))?.unschedulable).toBe(true));
        await core.deleteNode({ name: nodeName });
        await eventually(async () => expect(await node(nodeName)).toBeUndefined());
      }));

    test('a pod that fits nowhere carries the scheduler’s message, one that runs does not', () =>
      withNode(async (nodeName) => {
        await createPod('large', podSpec({ cpu: '1000' }));
        await createPod('small', { ...podSpec({ cpu: '100m' }), nodeName });
        await eventually(async () => {
          const seen = await pods();
          expect(seen.get('large')).toMatchObject({ node: undefined, requests: { cpu: 1_000_000 } });
          expect(seen.get('large')?.unschedulable).toMatch(/nodes are available: .*Insufficient cpu/);
          expect(seen.get('small')).toMatchObject({ node: nodeName, unschedulable: undefined });
        });
        await deletePod('large');
      }));

    test('whose a pod is, and what becomes of it when it is evicted', () =>
      withNode(async (nodeName) => {
        await deploy('movable', 1);
        await deploy('scratch', 1, { volumes: [{ name: 'scratch', emptyDir: {} }] });
        await harness.kubeConfig.makeApiClient(AppsV1Api).createNamespacedDaemonSet({
          namespace,
          body: {
            metadata: { name: 'agent' },
            spec: {
              selector: { matchLabels: { app: 'agent' } },
              template: {
                metadata: { labels: { app: 'agent' } },
                spec: { nodeSelector: { 'contract/node': namespace }, containers: [pause] },
              },
            },
          },
        });
        await createPod('bare', { ...podSpec(), nodeName });
        await createIdle('leaving', { finalizers: ['example.com/hold'] });
        await deletePod('leaving');
        const flags = ({ belongsToNode, movable, terminating }: Pod) =>
          [belongsToNode && 'node’s', movable && 'movable', terminating && 'leaving']
            .filter(Boolean)
            .join(' ');
        await eventually(async () => {
          const seen = [...(await pods()).values()];
          expect(seen.map((pod) => `${pod.name.split('-')[0]}: ${flags(pod)}`).sort()).toEqual([
            'agent: node’s',
            'bare: ',
            'leaving: leaving',
            'movable: movable',
            'scratch: ',
          ]);
        });
        await core.patchNamespacedPod({
          namespace,
          name: 'leaving',
          body: [{ op: 'remove', path: '/metadata/finalizers' }],
        });
      }));

    test('podsOn reads afresh, and says the same of a pod as the view does', () =>
      withNode(async (nodeName) => {
        await createPod('layered', {
          nodeName,
          initContainers: [
            { ...pause, name: 'sidecar', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } },
            { ...pause, name: 'prepare', resources: { requests: { cpu: '2', memory: '64Mi' } } },
          ],
          containers: [
            { ...pause, resources: { requests: { cpu: '1', memory: '1Gi' } } },
            { ...pause, name: 'second', resources: { requests: { cpu: '250m' } } },
          ],
          tolerations: [{ key: 'example.com/any', operator: 'Exists' }],
          nodeSelector: { 'contract/node': namespace },
        });
        // No waiting: what a drain relies on is never behind.
        const [fresh, ...others] = await cluster.podsOn(nodeName);
        expect(others).toEqual([]);
        // Starting needs the sidecar and the larger init container; running the sidecar and both containers.
        expect(fresh).toMatchObject({ name: 'layered', requests: { cpu: 2500, memory: 2 ** 30 } });
        await eventually(async () => {
          const [now] = await cluster.podsOn(nodeName);
          expect((await pods()).get('layered')).toEqual(now);
        });
        expect(await cluster.podsOn('no-such-node')).toEqual([]);
      }));

    test('a node is changed where it was asked to, and nowhere else', () =>
      withNode(async (nodeName) => {
        const taints = [{ key: 'example.com/theirs', value: 'keep', effect: 'NoSchedule' }];
        await core.patchNode({
          name: nodeName,
          body: [{ op: 'add', path: '/spec/taints', value: taints }],
        });
        await cluster.changeNode(nodeName, {
          labels: { 'bamel.dev/machine': 'm-1' },
          annotations: { 'bamel.dev/cordoned-by': 'op-1' },
          taints: [{ key: 'example.com/ours', value: 'a', effect: 'NoSchedule' }],
          unschedulable: true,
          providerID: 'bamel://m-1',
        });
        // What marks a cordon comes and goes as the server likes: not ours to look at.
        const ownTaints = async () =>
          ((await cluster.node(nodeName))?.taints ?? [])
            .filter(({ key }) => key.startsWith('example.com/'))
            .map(({ key, value, effect }) => `${key}=${value}:${effect}`)
            .sort();
        expect(await cluster.node(nodeName)).toMatchObject({
          labels: { 'kubernetes.io/hostname': nodeName, 'bamel.dev/machine': 'm-1' },
          annotations: { 'bamel.dev/cordoned-by': 'op-1' },
          unschedulable: true,
          providerID: 'bamel://m-1',
        });
        expect(await ownTaints()).toEqual([
          'example.com/ours=a:NoSchedule',
          'example.com/theirs=keep:NoSchedule',
        ]);
        await cluster.changeNode(nodeName, {
          annotations: { 'bamel.dev/cordoned-by': null },
          taints: [{ key: 'example.com/ours', value: 'b', effect: 'NoSchedule' }],
          unschedulable: false,
        });
        const changed = await cluster.node(nodeName);
        expect(changed).toMatchObject({ unschedulable: false, labels: { 'bamel.dev/machine': 'm-1' } });
        expect(changed?.annotations).not.toHaveProperty('bamel.dev/cordoned-by');
        expect(await ownTaints()).toEqual([
          'example.com/ours=b:NoSchedule',
          'example.com/theirs=keep:NoSchedule',
        ]);
      }));

    test('taints set at the same time: refused as a conflict or kept, never lost', () =>
      withNode(async (nodeName) => {
        const wanted = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `example.com/${letter}`);
        const taint = (key: string) =>
          cluster.changeNode(nodeName, { taints: [{ key, effect: 'PreferNoSchedule' }] });
        const conflicts: unknown[] = [];
        let missing = wanted;
        for (let round = 0; missing.length > 0 && round < 50; round += 1) {
          const results = await Promise.allSettled(missing.map(taint));
          const refused = results.filter((result) => result.status === 'rejected');
          conflicts.push(...refused.map(({ reason }) => reason));
          missing = missing.filter((_, index) => results[index]?.status === 'rejected');
        }
        const kept = (await cluster.node(nodeName))?.taints.map(({ key }) => key) ?? [];
        expect(kept).toEqual(expect.arrayContaining(wanted));
        for (const error of conflicts) expect(error).toMatchObject({ code: 'conflict' });
      }));

    test('a node that is not there', async () => {
      expect(await cluster.node('no-such-node')).toBeUndefined();
      expect(await cluster.deleteNode('no-such-node')).toBe(false);
      await expect(cluster.changeNode('no-such-node', { unschedulable: true })).rejects.toMatchObject({
        name: 'ClusterError',
        code: 'not-found',
      });
    });

    test('deleting a node', () =>
      withNode(async (nodeName) => {
        expect(await cluster.deleteNode(nodeName)).toBe(true);
        expect(await cluster.node(nodeName)).toBeUndefined();
      }));

    test('a pod is evicted, or blocked by a budget that is named, or gone', () =>
      withNode(async (nodeName) => {
        await deploy('web', 2);
        const policy = harness.kubeConfig.makeApiClient(PolicyV1Api);
        await policy.createNamespacedPodDisruptionBudget({
          namespace,
          body: {
            metadata: { name: 'web-budget' },
            spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
          },
        });
        const [pod] = await cluster.podsOn(nodeName);
        if (!pod) throw new Error('no pod runs on the node');
        // Until the budget's controller has counted its pods the server refuses as well, without the count.
        await eventually(async () =>
          expect(await cluster.evict(pod)).toMatchObject({
            kind: 'blocked',
            why: expect.stringMatching(/disruption budget.* web-budget needs 2 healthy pods and has 2/),
          }),
        );
        expect((await cluster.podsOn(nodeName)).map(({ uid }) => uid)).toContain(pod.uid);

        await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: 'web-budget' });
        const another = { ...pod, uid: '00000000-0000-4000-8000-000000000000' };
        expect(await cluster.evict(another)).toEqual({ kind: 'gone' });
        expect((await cluster.podsOn(nodeName)).map(({ uid }) => uid)).toContain(pod.uid);
        await eventually(async () => expect(await cluster.evict(pod)).toEqual({ kind: 'evicted' }));
        await eventually(async () => expect(await cluster.evict(pod)).toEqual({ kind: 'gone' }));
      }));

    test('taints are taken away by key, of one effect or of all, and nobody else’s', () =>
      withNode(async (nodeName) => {
        const key = 'example.com/ours';
        const taints = [
          { key, effect: 'NoSchedule' },
          { key, effect: 'PreferNoSchedule' },
          { key: 'example.com/both', effect: 'NoSchedule' },
          { key: 'example.com/both', effect: 'PreferNoSchedule' },
          { key: 'example.com/theirs', effect: 'NoSchedule' },
        ];
        await cluster.changeNode(nodeName, { taints });
        await cluster.changeNode(nodeName, {
          removeTaints: [
            { key, effect: 'NoSchedule' },
            { key: 'example.com/both' },
            { key: 'example.com/none' },
          ],
        });
        const left = (await cluster.node(nodeName))?.taints ?? [];
        // Kubernetes may still have one of its own on a node that is new.
        const given = left.filter((taint) => taint.key.startsWith('example.com/'));
        expect(given.map((taint) => `${taint.key}:${taint.effect}`).sort()).toEqual([
          'example.com/ours:PreferNoSchedule',
          'example.com/theirs:NoSchedule',
        ]);
      }));

    test('a pod with two budgets is blocked, and does not end the drain of the others', () =>
      withNode(async () => {
        await deploy('web', 2);
        const policy = harness.kubeConfig.makeApiClient(PolicyV1Api);
        for (const budget of ['one', 'two'])
          await policy.createNamespacedPodDisruptionBudget({
            namespace,
            body: {
              metadata: { name: budget },
              spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
            },
          });
        const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'app=web' });
        const { name: podName = '', uid = '' } = items[0]?.metadata ?? {};
        const result = await cluster.evict({ namespace, name: podName, uid });
        expect(result).toMatchObject({
          kind: 'blocked',
          why: expect.stringMatching(/more than one PodDisruptionBudget/),
        });
      }));

    test('a pod is removed by force, unless another has its name', () =>
      withNode(async (nodeName) => {
        await createPod('stuck', { ...podSpec(), nodeName, terminationGracePeriodSeconds: 3600 });
        const { metadata } = await core.readNamespacedPod({ namespace, name: 'stuck' });
        expect(await cluster.forceDelete({ namespace, name: 'stuck', uid: 'of-another' })).toBe(false);
        expect((await cluster.podsOn(nodeName)).map((pod) => pod.name)).toEqual(['stuck']);
        const ref = { namespace, name: 'stuck', uid: metadata?.uid ?? '' };
        expect(await cluster.forceDelete(ref)).toBe(true);
        expect(await cluster.podsOn(nodeName)).toEqual([]);
        expect(await cluster.forceDelete(ref)).toBe(false);
      }));

    test('the volumes that are attached to a node, and to no other', async () => {
      const storage = harness.kubeConfig.makeApiClient(StorageV1Api);
      const attach = (nodeName: string, volume: string) =>
        storage.createVolumeAttachment({
          body: {
            metadata: { name: `${namespace}-${volume}` },
            spec: { attacher: 'csi.example.com', nodeName, source: { persistentVolumeName: volume } },
          },
        });
      expect(await cluster.volumesOn(`${namespace}-a`)).toEqual([]);
      await attach(`${namespace}-a`, 'pv-1');
      await attach(`${namespace}-b`, 'pv-2');
      expect(await cluster.volumesOn(`${namespace}-a`)).toEqual(['pv-1']);
      for (const volume of ['pv-1', 'pv-2'])
        await storage.deleteVolumeAttachment({ name: `${namespace}-${volume}` });
    });

    test('Events are told about pods and nodes; one that cannot be written fails nothing', async () => {
      const about = { kind: 'Pod', namespace, name: 'waiting', uid: 'pod-uid' };
      await cluster.recordEvent(about, 'Warning', 'NoMachineFits', 'bamel: 0 of 6 machines can run this pod');
      await cluster.recordEvent(about, 'Normal', 'Long', `x${'é'.repeat(5_000)}`);
      const { items } = await harness.kubeConfig
        .makeApiClient(EventsV1Api)
        .listNamespacedEvent({ namespace });
      const ours = items.filter(({ regarding }) => regarding?.uid === 'pod-uid');
      expect(ours.map(({ type, reason }) => `${type} ${reason}`).sort()).toEqual([
        'Normal Long',
        'Warning NoMachineFits',
      ]);
      expect(ours.find(({ reason }) => reason === 'NoMachineFits')).toMatchObject({
        note: 'bamel: 0 of 6 machines can run this pod',
        regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'waiting' },
        reportingController: 'bamel.dev/autoscaler',
      });
      const long = ours.find(({ reason }) => reason === 'Long')?.note ?? '';
      expect(long).toMatch(/^xé{509,510}…$/);
      await cluster.recordEvent(
        { ...about, namespace: 'no-such-namespace' },
        'Normal',
        'Nobody',
        'hears this',
      );
      await cluster.recordEvent(about, 'Normal', '', 'without a reason it is refused');
    });

    test('every change is told once, and nothing again when the watch is interrupted', async () => {
      const about = (podName: string) =>
        podsTold
          .filter((one) => one.name === `${namespace}/${podName}`)
          .map(({ now, before, terminating }) =>
            now ? (before ? `changed${terminating ? ', leaving' : ''}` : 'new') : 'gone',
          );
      await createIdle('stays');
      await createIdle('goes');
      await core.patchNamespacedPod({
        namespace,
        name: 'stays',
        body: [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }],
      });
      await deletePod('goes');
      const expected = { stays: ['new', 'changed'], goes: ['new', 'changed, leaving', 'gone'] };
      const told = () => ({ stays: about('stays'), goes: about('goes') });
      await eventually(() => expect(told()).toEqual(expected));
      proxy.cut();
      proxy.heal();
      await createIdle('later');
      await eventually(() => expect(about('later')).toEqual(['new']));
      expect(told()).toEqual(expected);
    });

    test('what happens to a node is told once', () =>
      withNode(async (nodeName) => {
        const about = () => nodesTold.filter((text) => text.startsWith(`${nodeName} `));
        await eventually(() => expect(about()[0]).toBe(`${nodeName} undefined → false`));
        await cluster.changeNode(nodeName, { unschedulable: true });
        await core.deleteNode({ name: nodeName });
        await eventually(() => expect(about().at(-1)).toBe(`${nodeName} true → undefined`));
        const cordons = about().filter((text) => text.endsWith('false → true'));
        expect(cordons).toHaveLength(1);
      }));

    test('connections are kept: many calls, few connections', async () => {
      await cluster.view();
      await cluster.node('no-such-node');
      const before = proxy.accepted();
      for (let call = 0; call < 30; call += 1) await cluster.node('no-such-node');
      // A watch may be begun anew meanwhile.
      expect(proxy.accepted() - before).toBeLessThan(10);
    });

    test('fault 29: API server down → no view to decide on; back, it knows what changed', async () => {
      await createIdle('before');
      await eventually(async () => expect(await names()).toEqual(['before']));
      proxy.cut();
      await eventually(() => expectUnavailable(cluster.view()));
      const error = await cluster.view().catch((problem: unknown) => problem);
      expect(String(error)).toMatch(
        /has not answered for \d+ s \(.+\)\. Nothing is powered on or off until it is back/,
      );
      await expectUnavailable(cluster.podsOn('any'));
      await expectUnavailable(cluster.evict({ namespace, name: 'before', uid: 'x' }));
      await deletePod('before');
      await createIdle('meanwhile');
      proxy.heal();
      await eventually(async () => expect(await names()).toEqual(['meanwhile']));
    }, 120_000);

    test('fault 10: watch gap → re-list, nothing missed', async () => {
      await createIdle('unchanged');
      await createIdle('removed');
      await eventually(async () => expect(await names()).toEqual(['removed', 'unchanged']));
      proxy.cut();
      await deletePod('removed');
      await createIdle('added');
      // Where the watch would go on from is forgotten by the time it is back.
      await harness.compact?.();
      const toldBefore = podsTold.length;
      proxy.heal();
      await eventually(async () => expect(await names()).toEqual(['added', 'unchanged']), 60_000);
      const since = podsTold.slice(toldBefore).filter((one) => one.name.startsWith(`${namespace}/`));
      expect(since.map((one) => `${one.name} ${one.now}`).sort()).toEqual([
        `${namespace}/added true`,
        `${namespace}/removed false`,
      ]);
      await createIdle('after');
      await eventually(async () => expect(await names()).toEqual(['added', 'after', 'unchanged']));
    }, 180_000);
  });
}

export async function expectUnavailable(call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(ClusterError);
  expect(error).toMatchObject({ code: 'unavailable' });
}

function ignoreMissing(error: { code?: number }): void {
  if (error.code !== 404) throw error;
}
