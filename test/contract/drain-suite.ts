import { BatchV1Api, PolicyV1Api, StorageV1Api } from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { createLog } from '../../shared/process/log.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { type CutProxy, startProxy } from '../../tools/support/cut-proxy.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type ClusterHarness, pause, podSpec } from '../../tools/worlds/cluster-client.ts';
import { fastClock, throughPort } from './cluster-adapter-suite.ts';
import { type FunctionsWorld, startFunctionsWorld } from './functions-world.ts';

const silent = createLog({ level: 'silent', format: 'json' });

/** drain-node on a cluster, whatever its server: nothing is lost, and nothing stays cordoned. */
export function drainContract(name: string, start: () => Promise<ClusterHarness>): void {
  describe(`drain-node on ${name}:`, () => {
    let harness: ClusterHarness;
    let proxy: CutProxy;
    let cluster: Cluster & { close(): void };
    let world: FunctionsWorld;

    beforeAll(async () => {
      harness = await start();
      proxy = await startProxy(Number(new URL(harness.kubeConfig.getCurrentCluster()?.server ?? '').port));
      const kubeConfig = throughPort(harness.kubeConfig, proxy.port);
      cluster = createKubeCluster({
        transport: kubeTransport(kubeConfig),
        clock: fastClock(10),
        log: silent,
      });
      // Something that is never the node of a test: no node of a test is the last one.
      await harness.addNode('other', { taints: [{ key: 'test/other', effect: 'NoSchedule' }] });
    }, 600_000);
    beforeEach(async () => {
      world = await startFunctionsWorld(harness, cluster);
    });
    afterEach(() => world?.close());
    afterAll(async () => {
      cluster?.close();
      await proxy?.close();
      await harness?.close();
    });

    const serving = (node: string): Partial<MachineStatus> => ({
      powerState: 'on',
      kubernetesNode: node,
      nodeReady: true,
    });
    /** A machine that is to be emptied, and is this node. */
    const draining = async (node: string, pool = {}, autoscaler = {}) => {
      const status = { ...serving(node), state: 'draining', operation: 'op-1' } as const;
      await world.machines([{ name: 'm-1', providerID: `test://${node}` }], status, pool, autoscaler);
    };
    const patient = { scaleDown: { drainTimeout: '24h' } };
    const drainUntil = (state: MachineStatus['state']) =>
      eventually(async () => {
        await world.drain();
        expect((await world.status('m-1')).state).toBe(state);
      }, 60_000);
    const cordon = async (node: string) => {
      const found = await cluster.node(node);
      return [found?.unschedulable, found?.annotations[bamelKeys.cordonedBy]];
    };
    const budget = (app: string) =>
      harness.kubeConfig.makeApiClient(PolicyV1Api).createNamespacedPodDisruptionBudget({
        namespace: world.namespace,
        body: {
          metadata: { name: app },
          spec: { minAvailable: 1, selector: { matchLabels: { app } } },
        },
      });

    test('pods leave, DaemonSet and finished pods do not count, and then it is drained', async () => {
      const node = await world.node('a');
      await world.deploy('web', 2, node);
      await world.core.createNamespacedPod({
        namespace: world.namespace,
        body: { metadata: { name: 'done' }, spec: { ...podSpec(), nodeName: node, restartPolicy: 'Never' } },
      });
      await eventually(async () => {
        const done = await world.core.readNamespacedPod({ namespace: world.namespace, name: 'done' });
        expect(done.status?.phase).toMatch(/Succeeded|Running/);
      });
      await world.core.replaceNamespacedPodStatus({
        namespace: world.namespace,
        name: 'done',
        body: {
          ...(await world.core.readNamespacedPod({ namespace: world.namespace, name: 'done' })),
          status: { phase: 'Succeeded' },
        },
      });
      await draining(node, patient);
      await drainUntil('powering-off');
      expect(await world.podsOn(node)).toEqual(['done']);
      expect((await world.status('m-1')).drain).toMatchObject({ podsLeft: 0, podsTotal: 2 });
      expect(await cordon(node)).toEqual([true, 'op-1']);
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.machine.drained']);
      await eventually(async () =>
        expect(
          (await world.told('Node', node)).map((text) => text.split(' ').slice(0, 2).join(' ')).sort(),
        ).toEqual(['Normal Drained', 'Normal Draining']),
      );
    });

    test('fault 24: PDB blocks for ever → gives up, uncordons, reports', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, { scaleDown: { drainTimeout: '5m' } });
      await eventually(async () => {
        await world.drain();
        expect((await world.status('m-1')).drain?.waitingFor).toMatch(
          /disruption budget web needs 1 healthy/,
        );
      });
      expect(await cordon(node)).toEqual([true, 'op-1']);
      await drainUntil('ready');
      expect(await cordon(node)).toEqual([false, undefined]);
      expect((await world.podsOn(node)).length).toBe(1);
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.drain.aborted']);
      const { history } = await world.record('m-1');
      expect(history.at(-1)).toMatchObject({
        event: 'drain-aborted',
        code: 'drain-timeout',
      });
      await eventually(async () =>
        expect(await world.told('Node', node)).toContainEqual(
          expect.stringMatching(/^Warning DrainAborted .*1 pods are left after 300 s.*budget web.*stays on/),
        ),
      );
    });

    test('a budget that gives way lets the drain go on', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, patient);
      await eventually(async () => {
        await world.drain();
        expect((await world.status('m-1')).drain?.waitingFor).toMatch(/budget web/);
      });
      await harness.kubeConfig
        .makeApiClient(PolicyV1Api)
        .deleteNamespacedPodDisruptionBudget({ namespace: world.namespace, name: 'web' });
      await drainUntil('powering-off');
    });

    test('fault 25: drain time-out → no power-off, uncordoned', async () => {
      const node = await world.node('a');
      await world.deploy('slow', 1, node);
      const [pod = ''] = await world.podsOn(node);
      // It never ends, however long one waits.
      await world.core.patchNamespacedPod({
        namespace: world.namespace,
        name: pod,
        body: [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/hold'] }],
      });
      await draining(node, { scaleDown: { drainTimeout: '5m' } });
      await drainUntil('ready');
      expect(await cordon(node)).toEqual([false, undefined]);
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.drain.aborted']);
      expect((await world.record('m-1')).history.map(({ event }) => event)).toEqual(['drain-aborted']);
      await world.core.patchNamespacedPod({
        namespace: world.namespace,
        name: pod,
        body: [{ op: 'remove', path: '/metadata/finalizers' }],
      });
    });

    test('fault 26: a pod lands during the drain → looked at again before off', async () => {
      const node = await world.node('a');
      await draining(node, patient);
      let landed = false;
      const late: Cluster = {
        ...cluster,
        // After the pods were listed and before the result is written.
        async volumesOn(name) {
          if (!landed)
            await world.core.createNamespacedPod({
              namespace: world.namespace,
              body: {
                metadata: {
                  name: 'late',
                  annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' },
                },
                spec: { ...podSpec(), nodeName: node, terminationGracePeriodSeconds: 1 },
              },
            });
          landed = true;
          return cluster.volumesOn(name);
        },
      };
      const result = await world.drain({ cluster: late });
      expect(landed).toBe(true);
      // Either it was evicted within this very run, or it is still there and the machine is still draining.
      const { state } = await world.status('m-1');
      if (state === 'powering-off') expect(await world.podsOn(node)).toEqual([]);
      else expect(result).toMatchObject({ kind: 'done' });
      await drainUntil('powering-off');
      expect(await world.podsOn(node)).toEqual([]);
      expect((await world.status('m-1')).drain?.podsTotal).toBe(1);
    });

    test('fault 28: 429 → asked again later; 409 → the pod meant is gone, its namesake stays', async () => {
      const node = await world.node('a');
      await world.core.createNamespacedPod({
        namespace: world.namespace,
        body: { metadata: { name: 'same-name' }, spec: { ...podSpec(), nodeName: node } },
      });
      const evicted = await cluster.evict({
        namespace: world.namespace,
        name: 'same-name',
        uid: 'of-another',
      });
      expect(evicted).toEqual({ kind: 'gone' });
      expect(await world.podsOn(node)).toEqual(['same-name']);
      await world.core.deleteNamespacedPod({
        namespace: world.namespace,
        name: 'same-name',
        gracePeriodSeconds: 0,
      });

      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, patient);
      const asked: number[] = [];
      const counting: Cluster = {
        ...cluster,
        evict(pod) {
          asked.push(world.clock.now());
          return cluster.evict(pod);
        },
      };
      const handler = { cluster: counting };
      await world.drain(handler);
      const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
      expect(asked.length).toBeGreaterThan(1);
      // Every five seconds at first, and then less and less often.
      expect(pauses[0]).toBeGreaterThanOrEqual(5_000);
      expect(pauses.at(-1)).toBeGreaterThanOrEqual(pauses.length > 1 ? 10_000 : 5_000);
    });

    test('fault 29: API server down → the drain stands still, and goes on when it is back', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, patient);
      await world.drain();
      proxy.cut();
      await expect(world.drain()).rejects.toMatchObject({ name: 'ClusterError', code: 'unavailable' });
      expect(await world.status('m-1')).toMatchObject({ state: 'draining', operation: 'op-1' });
      proxy.heal();
      await harness.kubeConfig
        .makeApiClient(PolicyV1Api)
        .deleteNamespacedPodDisruptionBudget({ namespace: world.namespace, name: 'web' });
      await eventually(async () => {
        await cluster.view();
      }, 60_000);
      await drainUntil('powering-off');
    }, 180_000);

    test('fault 40: a control-plane node, a protected one, the autoscaler’s own host → refused', async () => {
      const controlPlane = { 'node-role.kubernetes.io/control-plane': '' };
      const node = await world.node('a', { labels: controlPlane });
      await draining(node, patient);
      await world.drain();
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        to: 'ready',
        code: 'protected',
      });
      await world.setStatus('m-1', { state: 'draining', operation: 'op-2' });
      await world.core.patchNode({
        name: node,
        body: [{ op: 'remove', path: '/metadata/labels/node-role.kubernetes.io~1control-plane' }],
      });
      await world.drain({ ownNode: node });
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        to: 'ready',
        code: 'own-node',
      });
      expect(await cordon(node)).toEqual([false, undefined]);
    });

    /** The cluster as if this node were all there is. */
    const only = (node: string): Cluster => ({
      ...cluster,
      async view() {
        const view = await cluster.view();
        return { ...view, nodes: view.nodes.filter((one) => one.name === node) };
      },
    });

    test('the last node that takes pods is drained when a person said that this is meant', async () => {
      const node = await world.node('a');
      await draining(node, patient);
      const { input: spec } = await world.record('m-1');
      const asked = { id: 'op-1', machine: 'm-1', goal: 'off', why: 'asked for', createdAt: 0, commands: [] };
      const value = encode({ ...asked, spec, last: true });
      await world.store.commit([], [{ put: keys.operation('op-1'), value }]);
      await world.drain({ cluster: only(node) });
      expect((await world.status('m-1')).state).toBe('powering-off');
    });

    test('fault 40: the last node that takes pods → refused', async () => {
      const node = await world.node('a');
      await draining(node, patient);
      await world.drain({ cluster: only(node) });
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        to: 'ready',
        code: 'last-open-node',
      });
      expect(await cordon(node)).toEqual([false, undefined]);
    });

    test.each([
      ['a bare pod', { annotations: {} }, 'no-controller'],
      [
        'one with safe-to-evict: "false"',
        { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } },
        'not-safe-to-evict',
      ],
      [
        'one with do-not-disrupt',
        { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
        'do-not-disrupt',
      ],
    ])(
      '%s is never evicted: nobody else is either, and the node is open again',
      async (_name, metadata, code) => {
        const node = await world.node('a');
        await world.deploy('web', 1, node);
        const before = await world.podsOn(node);
        await world.core.createNamespacedPod({
          namespace: world.namespace,
          body: { metadata: { name: 'stays', ...metadata }, spec: { ...podSpec(), nodeName: node } },
        });
        await draining(node, patient);
        await world.drain();
        expect((await world.record('m-1')).history.at(-1)).toMatchObject({
          event: 'drain-aborted',
          code,
        });
        expect(await cordon(node)).toEqual([false, undefined]);
        expect(await world.podsOn(node)).toEqual(['stays', ...before].sort());
      },
    );

    test('data on the node’s disk stays where it is, unless that is allowed', async () => {
      const node = await world.node('a');
      await world.deploy('scratch', 1, node, { volumes: [{ name: 'scratch', emptyDir: {} }] });
      await draining(node, patient);
      await world.drain();
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        to: 'ready',
        code: 'local-data',
      });
      await draining(node, patient, { scaleDown: { moveLocalStorage: true } });
      await drainUntil('powering-off');
    });

    test('a Job’s pod is waited for, not evicted', async () => {
      const node = await world.node('a');
      // Only this test says when it ends.
      await harness.kubeConfig.makeApiClient(BatchV1Api).createNamespacedJob({
        namespace: world.namespace,
        body: {
          metadata: { name: 'work' },
          spec: {
            template: {
              spec: {
                schedulerName: 'nobody',
                restartPolicy: 'OnFailure',
                nodeName: node,
                containers: [pause],
              },
            },
          },
        },
      });
      await draining(node, patient);
      const asked: string[] = [];
      const counting: Cluster = {
        ...cluster,
        evict(pod) {
          asked.push(pod.name);
          return cluster.evict(pod);
        },
      };
      await eventually(async () => {
        await world.drain({ cluster: counting });
        expect((await world.status('m-1')).state).toBe('powering-off');
      }, 60_000);
      expect(asked).toEqual([]);
    });

    test('what a person cordoned stays cordoned when the drain is given up', async () => {
      const node = await world.node('a');
      await cluster.changeNode(node, { unschedulable: true });
      await world.core.createNamespacedPod({
        namespace: world.namespace,
        body: { metadata: { name: 'stays' }, spec: { ...podSpec(), nodeName: node } },
      });
      await draining(node, patient);
      await world.drain();
      expect((await world.status('m-1')).state).toBe('ready');
      expect(await cordon(node)).toEqual([true, undefined]);
    });

    test('what the Cluster Autoscaler cordoned is ours from then on: opened again when the drain is given up, its marks gone', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      const effect = 'NoSchedule' as const;
      await cluster.changeNode(node, {
        unschedulable: true,
        taints: [
          { key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect },
          { key: 'example.com/theirs', effect },
        ],
      });
      await draining(node, { scaleDown: { drainTimeout: '5m' } });
      await eventually(async () => {
        await world.drain();
        expect((await world.status('m-1')).drain?.waitingFor).toMatch(/budget web/);
      });
      expect(await cordon(node)).toEqual([true, 'op-1']);
      await drainUntil('ready');
      expect(await cordon(node)).toEqual([false, undefined]);
      const keysLeft = (await cluster.node(node))?.taints.map(({ key }) => key);
      expect(keysLeft?.filter((key) => !key.startsWith('node.kubernetes.io/'))).toEqual([
        'example.com/theirs',
      ]);
    });

    test('somebody uncordons it meanwhile → given up, not fought', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, patient);
      await world.drain();
      expect(await cordon(node)).toEqual([true, 'op-1']);
      await cluster.changeNode(node, { unschedulable: false });
      await world.drain();
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        code: 'uncordoned',
      });
      expect(await cordon(node)).toEqual([false, undefined]);
    });

    test('demand returns: a machine that serves again is uncordoned, if it was us', async () => {
      const node = await world.node('a');
      await world.deploy('web', 1, node);
      await budget('web');
      await draining(node, patient);
      await world.drain();
      expect(await cordon(node)).toEqual([true, 'op-1']);
      await world.setStatus('m-1', { state: 'ready', operation: undefined });
      await eventually(async () => {
        await world.drain();
        expect(await cordon(node)).toEqual([false, undefined]);
      });
      expect((await world.podsOn(node)).length).toBe(1);
      await cluster.changeNode(node, { unschedulable: true });
      await eventually(async () =>
        expect((await cluster.view()).nodes.find((one) => one.name === node)?.unschedulable).toBe(true),
      );
      await world.drain();
      expect(await cordon(node)).toEqual([true, undefined]);
    });

    test('volumes are waited for, and after a while no longer, which is written down', async () => {
      const node = await world.node('a');
      const storage = harness.kubeConfig.makeApiClient(StorageV1Api);
      const attachment = `${world.namespace}-va`;
      await storage.createVolumeAttachment({
        body: {
          metadata: { name: attachment },
          spec: { attacher: 'csi.example.com', nodeName: node, source: { persistentVolumeName: 'pv-1' } },
        },
      });
      try {
        await draining(node, patient);
        await world.drain();
        expect(await world.status('m-1')).toMatchObject({
          state: 'draining',
          drain: { podsLeft: 0, waitingFor: '1 volume to be detached, pv-1 among them' },
        });
        world.clock.pass(120_000);
        await world.drain();
        expect((await world.status('m-1')).state).toBe('powering-off');
        expect((await world.record('m-1')).history.at(-1)).toMatchObject({
          event: 'drained',
          why: expect.stringMatching(/^1 volume still attached after \d+ s: pv-1$/),
        });
      } finally {
        await storage.deleteVolumeAttachment({ name: attachment });
      }
    });
  });
}
