import { AppsV1Api, StorageV1Api } from '@kubernetes/client-node';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { bamelKeys } from '../../shared/core/cluster/names.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { type Reason, textOf } from '../../shared/core/reasons/reason.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { createLog } from '../../shared/process/log.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type ClusterHarness, pause, podSpec } from '../../tools/worlds/cluster-client.ts';
import type { NodeOptions } from '../../tools/worlds/cluster-kubelet.ts';
import { fastClock } from './cluster-adapter-suite.ts';
import { type FunctionsWorld, ignoreMissing, startFunctionsWorld } from './functions-world.ts';

const silent = createLog({ level: 'silent', format: 'json' });
const minute = 60_000;
const mac = '52:54:00:12:34:56';
const uuid = '00112233-4455-6677-8899-AABBCCDDEEFF';

/** join-watcher on a cluster, whatever its server. */
export function joinContract(name: string, start: () => Promise<ClusterHarness>): void {
  describe(`join-watcher on ${name}:`, () => {
    let harness: ClusterHarness;
    let cluster: Cluster & { close(): void };
    let world: FunctionsWorld;

    beforeAll(async () => {
      harness = await start();
      cluster = createKubeCluster({
        transport: kubeTransport(harness.kubeConfig),
        clock: fastClock(10),
        log: silent,
      });
    }, 600_000);
    beforeEach(async () => {
      world = await startFunctionsWorld(harness, cluster);
    });
    afterEach(() => world?.close());
    afterAll(async () => {
      cluster?.close();
      await harness?.close();
    });

    const joining = (): Partial<MachineStatus> => ({
      state: 'joining',
      powerState: 'on',
      bootTime: world.clock.now(),
    });
    const serving = (node: string): Partial<MachineStatus> => ({
      state: 'ready',
      powerState: 'on',
      kubernetesNode: node,
      nodeReady: true,
    });
    const taintsOf = async (node: string) =>
      ((await cluster.node(node))?.taints ?? [])
        .map(({ key }) => key)
        .filter((key) => !key.startsWith('node.kubernetes.io/') || key.endsWith('/out-of-service'))
        .sort();
    /** Machines that serve, each as a node of its own, known by name only. */
    const servingMachines = async (count: number, pool: object = {}) => {
      const nodes: string[] = [];
      for (let index = 1; index <= count; index += 1) nodes.push(await world.node(`n${index}`));
      const named = nodes.map((node, index) => ({ name: `m-${index + 1}`, providerID: `test://${node}` }));
      for (const [index, node] of nodes.entries())
        await world.core.patchNode({
          name: node,
          body: [{ op: 'add', path: '/spec/providerID', value: named[index]?.providerID }],
        });
      await world.machines(named, {}, pool);
      for (const [index, node] of nodes.entries()) await world.setStatus(`m-${index + 1}`, serving(node));
      await eventually(async () => {
        const known = (await cluster.view()).nodes.filter(({ providerID }) =>
          providerID?.startsWith('test://'),
        );
        expect(known.map((node) => node.name)).toEqual(expect.arrayContaining(nodes));
      });
      return nodes;
    };
    const statesOf = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, index) => (await world.status(`m-${index + 1}`)).state),
      );

    test.each<[string, NodeOptions, string]>([
      ['its providerID', { providerID: 'test://elsewhere' }, 'providerID'],
      ['its systemUUID', { systemUUID: uuid }, 'systemUUID'],
      [
        'its systemUUID in the other byte order',
        { systemUUID: '33221100-5544-7766-8899-aabbccddeeff' },
        'systemUUID',
      ],
      [
        'a MAC address on an annotation',
        { annotations: { 'bamel.dev/mac-address': mac.toUpperCase() } },
        'macAddress',
      ],
      [
        'a MAC address on a label',
        { labels: { 'bamel.dev/mac-address': mac.replaceAll(':', '-') } },
        'macAddress',
      ],
    ])('fault 19: joins under another name → matched by %s', async (_name, options, by) => {
      const node = await world.node('stranger', options);
      await world.machines(
        [
          {
            name: 'm-1',
            providerID: 'test://elsewhere',
            systemUUID: uuid,
            macAddress: mac,
          },
        ],
        joining(),
      );
      await world.join();
      expect(await world.status('m-1')).toMatchObject({
        state: 'ready',
        kubernetesNode: node,
        matchedBy: by,
      });
      expect((await world.record('m-1')).history.at(-1)).toMatchObject({
        event: 'joined',
        why: `matched by ${by}`,
      });
      expect(world.lines.join('')).toContain(`"by":"${by}"`);
      // CA knows machines by their node's providerID.
      expect((await cluster.node(node))?.providerID).toBe('test://elsewhere');
    });

    test('a machine that joins gets labels, taints, the pool’s template, a providerID; old marks go', async () => {
      const left = { effect: 'NoSchedule' };
      const node = await world.node('m', {
        systemUUID: 'u-1',
        taints: [
          { key: 'ToBeDeletedByClusterAutoscaler', value: '1', ...left },
          { key: 'DeletionCandidateOfClusterAutoscaler', value: '1', effect: 'PreferNoSchedule' },
          { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', ...left },
          { key: 'example.com/theirs', ...left },
        ],
      });
      await world.machines(
        [
          {
            name: 'm-1',
            systemUUID: 'U-1',
            labels: { disk: 'fast' },
            taints: [{ key: 'gpu', effect: 'NoSchedule' }],
          },
        ],
        joining(),
        {
          template: {
            labels: { disk: 'slow', rack: 'closet' },
            taints: [{ key: 'pool', value: 'x', effect: 'NoSchedule' }],
          },
        },
      );
      await world.join();
      const joined = await cluster.node(node);
      expect(joined?.labels).toMatchObject({
        disk: 'fast',
        rack: 'closet',
        'bamel.dev/machine': 'm-1',
        'bamel.dev/pool': 'rack',
      });
      expect(joined?.providerID).toBe('bamel://m-1');
      expect(await taintsOf(node)).toEqual(['example.com/theirs', 'gpu', 'pool']);
      expect(await world.status('m-1')).toMatchObject({ providerID: 'bamel://m-1', matchedBy: 'systemUUID' });
      await eventually(async () =>
        expect(await world.told('Node', node)).toContainEqual(
          expect.stringMatching(/^Normal MachineJoined bamel: machine m-1 is node .* \(by systemUUID\)/),
        ),
      );
    });

    test('startup taints stay until every pod that runs on all nodes is ready', async () => {
      const startup = { key: 'example.com/starting', effect: 'NoSchedule' as const };
      const node = await world.node('m', { taints: [startup], systemUUID: 'u-1' });
      const apps = harness.kubeConfig.makeApiClient(AppsV1Api);
      const spec = {
        nodeSelector: { 'test/node': node },
        tolerations: [{ operator: 'Exists' }],
        containers: [pause],
      };
      await apps.createNamespacedDaemonSet({
        namespace: world.namespace,
        body: {
          metadata: { name: 'agent' },
          spec: {
            selector: { matchLabels: { app: 'agent' } },
            template: { metadata: { labels: { app: 'agent' } }, spec },
          },
        },
      });
      const agentIs = (ready: boolean) =>
        eventually(async () => {
          const { pods } = await cluster.view();
          expect(pods.filter((pod) => pod.node === node).map((pod) => pod.ready)).toEqual([ready]);
        });
      await agentIs(true);
      // Not a kubelet's doing: it says so itself, and nobody corrects it.
      const unready: Cluster = {
        ...cluster,
        async view() {
          const view = await cluster.view();
          return {
            ...view,
            pods: view.pods.map((pod) => (pod.node === node ? { ...pod, ready: false } : pod)),
          };
        },
      };
      await world.machines([{ name: 'm-1', systemUUID: 'u-1' }], joining(), { startupTaints: [startup] });
      await world.join({ cluster: unready });
      await world.join({ cluster: unready });
      expect((await world.status('m-1')).state).toBe('ready');
      expect(await taintsOf(node)).toEqual(['example.com/starting']);
      await world.join();
      expect(await taintsOf(node)).toEqual([]);
    });

    test('fault 18: powers on, never joins → time-out, quarantine', async () => {
      await world.machines([{ name: 'm-1' }], joining(), { provisionTimeout: '5m' });
      await world.join();
      expect((await world.status('m-1')).state).toBe('joining');
      world.clock.pass(5 * minute);
      await world.join();
      expect(await world.status('m-1')).toMatchObject({
        state: 'error',
        attempts: 1,
        lastError: { code: 'never-joined' },
        retryAt: expect.any(Number),
      });
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.machine.failed']);
    });

    test('fault 20: NotReady flapping → nothing happens; NotReady for long → replaced, and taken back later', async () => {
      const [node = ''] = await servingMachines(1);
      for (let round = 0; round < 3; round += 1) {
        await world.setReady(node, 'Unknown');
        await world.join();
        world.clock.pass(9 * minute);
        await world.join();
        await world.setReady(node, 'True');
        await world.join();
        world.clock.pass(9 * minute);
        await world.join();
      }
      expect(await world.status('m-1')).toMatchObject({ state: 'ready', nodeReady: true });
      expect((await world.record('m-1')).history).toEqual([]);

      await world.setReady(node, 'Unknown');
      await world.join();
      // Counted from when it was seen here, by our own clock.
      await world.join();
      world.clock.pass(10 * minute);
      await world.join();
      expect(await world.status('m-1')).toMatchObject({ state: 'error', lastError: { code: 'node-lost' } });
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.machine.failed']);
      await world.setReady(node, 'True');
      await world.join();
      expect(await world.status('m-1')).toMatchObject({ state: 'ready', nodeReady: true });
    });

    test('fault 21: many nodes NotReady at once → none is given up, and that is said', async () => {
      const nodes = await servingMachines(5, { recovery: { policy: 'power-cycle' } });
      for (const node of nodes.slice(0, 4)) await world.setReady(node, 'Unknown');
      await world.join();
      world.clock.pass(30 * minute);
      await world.join();
      expect(await statesOf(5)).toEqual(['ready', 'ready', 'ready', 'ready', 'ready']);
      expect((await world.status('m-1')).nodeProblem).toBe(
        textOf({ code: 'many-nodes-lost', lost: 4, of: 5 }),
      );
      expect(
        world.lines.filter((line) => line.includes(textOf({ code: 'many-nodes-lost', lost: 4, of: 5 })))
          .length,
      ).toBe(4);
      // Fewer: now it may be the machines. Two within an hour are the most.
      await world.setReady(nodes[0] ?? '', 'True');
      await world.join();
      expect((await statesOf(5)).toSorted()).toEqual([
        'powering-off',
        'powering-off',
        'ready',
        'ready',
        'ready',
      ]);
    });

    test('power-cycle: only where the kubelet is silent, power is on, and nobody must stay', async () => {
      const [node = ''] = await servingMachines(1, { recovery: { policy: 'power-cycle', maxPerHour: 1 } });
      const lateJoin = async () => {
        await world.join();
        await world.join();
        world.clock.pass(11 * minute);
        await world.join();
        return world.status('m-1');
      };
      await world.setReady(node, 'False');
      expect(await lateJoin()).toMatchObject({
        state: 'ready',
        nodeProblem: expect.stringContaining(textOf({ code: 'kubelet-answers' })),
      });
      await world.setReady(node, 'Unknown');
      await world.setStatus('m-1', { powerState: 'unknown' });
      expect(await lateJoin()).toMatchObject({
        state: 'ready',
        nodeProblem: expect.stringContaining(
          textOf({ code: 'power-not-known', power: 'unknown', needed: 'on' }),
        ),
      });
      await world.setStatus('m-1', { powerState: 'on' });
      await world.core.createNamespacedPod({
        namespace: world.namespace,
        body: {
          metadata: { name: 'stays' },
          spec: { ...podSpec(), nodeName: node, tolerations: [{ operator: 'Exists' }] },
        },
      });
      await eventually(async () =>
        expect((await cluster.view()).pods.some((pod) => pod.node === node && pod.name === 'stays')).toBe(
          true,
        ),
      );
      expect(await lateJoin()).toMatchObject({
        state: 'ready',
        nodeProblem: expect.stringContaining(
          textOf({ code: 'no-controller', pod: `${world.namespace}/stays` }),
        ),
      });
      await world.core.deleteNamespacedPod({
        namespace: world.namespace,
        name: 'stays',
        gracePeriodSeconds: 0,
      });
      await eventually(async () =>
        expect((await cluster.view()).pods.some((pod) => pod.node === node && pod.name === 'stays')).toBe(
          false,
        ),
      );
      expect(await lateJoin()).toMatchObject({ state: 'powering-off', operation: expect.any(String) });
      expect(world.emitted.map(({ type }) => type)).toEqual(['dev.bamel.power.requested']);
      const operations = await world.store.list('/baremetal/operations/');
      expect(operations.entries.map(({ value }) => JSON.parse(value))).toEqual([
        expect.objectContaining({ machine: 'm-1', goal: 'off' }),
      ]);
      await eventually(async () =>
        expect(await world.told('Node', node)).toContainEqual(
          expect.stringMatching(/^Warning MachinePowerCycled /),
        ),
      );
      // Hung again within the hour.
      await world.setStatus('m-1', { state: 'ready', operation: undefined, unreadySince: undefined });
      expect(await lateJoin()).toMatchObject({
        state: 'ready',
        nodeProblem: expect.stringContaining(textOf({ code: 'cycles-used-up', cycles: 1 })),
      });
    });

    test('wait: nothing is done but said; a Node that is gone for good is lost all the same', async () => {
      const [node = ''] = await servingMachines(1, { recovery: { policy: 'wait' } });
      await world.setReady(node, 'Unknown');
      await world.join();
      world.clock.pass(60 * minute);
      await world.join();
      expect(await world.status('m-1')).toMatchObject({
        state: 'ready',
        nodeProblem: textOf({
          code: 'pool-waits',
          what: { code: 'node-silent', forMs: 10 * minute } as Reason,
        }),
      });
      await world.core.deleteNode({ name: node });
      await eventually(async () =>
        expect((await cluster.view()).nodes.some((one) => one.name === node)).toBe(false),
      );
      await world.join();
      expect(await world.status('m-1')).toMatchObject({ state: 'error', lastError: { code: 'node-lost' } });
    });

    test('two nodes claim one machine → neither is touched, and it is told', async () => {
      const systemUUID = 'same-uuid';
      const [one, two] = [await world.node('one', { systemUUID }), await world.node('two', { systemUUID })];
      await world.machines([{ name: 'm-1', systemUUID }], joining(), { provisionTimeout: '24h' });
      const outcome = await world.join();
      expect((await world.status('m-1')).state).toBe('joining');
      for (const node of [one, two])
        expect((await cluster.node(node))?.labels).not.toHaveProperty('bamel.dev/machine');
      const text = `nodes ${one} and ${two} both claim to be m-1 (by systemUUID): neither is touched. Delete the one that is wrong`;
      expect(outcome).toMatchObject({ kind: 'done', answer: { findings: [text] } });
      expect((await world.status('m-1')).nodeProblem).toBe(text);
      // One of them goes silent: it was the old name of the machine.
      await world.setReady(one, 'Unknown');
      await world.join();
      expect(await world.status('m-1')).toMatchObject({ state: 'ready', kubernetesNode: two });
    });

    test('two machines match one node → neither is taken into service', async () => {
      const node = await world.node('one', { systemUUID: 'same-uuid' });
      await world.machines(
        [
          { name: 'm-1', systemUUID: 'same-uuid' },
          { name: 'm-2', systemUUID: 'same-uuid' },
        ],
        joining(),
        { provisionTimeout: '24h' },
      );
      await world.join();
      expect(await statesOf(2)).toEqual(['joining', 'joining']);
      expect((await cluster.node(node))?.labels).not.toHaveProperty('bamel.dev/machine');
      expect((await world.status('m-2')).nodeProblem).toContain(`node ${node} is m-1 as well as m-2`);
    });

    test('a node that says it is ours and is no machine is told once; others are none of our business', async () => {
      const ours = await world.node('ours', { labels: { 'bamel.dev/machine': 'm-9' } });
      const selected = await world.node('selected', { labels: { rack: 'closet' } });
      await world.node('theirs');
      await world.machines(
        [{ name: 'm-1' }],
        { state: 'off', powerState: 'off' },
        { nodeSelector: { rack: 'closet' } },
      );
      await world.join();
      await world.join();
      const told = world.lines
        .filter((line) => line.includes('do not add up'))
        .map((line) => JSON.parse(line).node);
      expect(told.sort()).toEqual([ours, selected].sort());
      await eventually(async () =>
        expect(await world.told('Node', ours)).toEqual([
          expect.stringMatching(/^Warning MachineUnclear .* labelled as machine m-9, but is no machine/),
        ]),
      );
    });

    describe('a machine that is off', () => {
      const off = (node: string): Partial<MachineStatus> => ({
        state: 'off',
        powerState: 'off',
        kubernetesNode: node,
        nodeReady: false,
      });
      /** A pod that its kubelet never lets go of, as it has no power. */
      const stuckPod = async (node: string) => {
        await world.core.createNamespacedPod({
          namespace: world.namespace,
          body: {
            metadata: { name: 'stuck', finalizers: ['example.com/hold'] },
            spec: { ...podSpec(), nodeName: node, tolerations: [{ operator: 'Exists' }] },
          },
        });
        await world.core.deleteNamespacedPod({ namespace: world.namespace, name: 'stuck' });
        await eventually(async () =>
          expect(
            (await cluster.view()).pods.find((pod) => pod.node === node && pod.name === 'stuck')?.terminating,
          ).toBe(true),
        );
      };
      const letGo = () =>
        world.core
          .patchNamespacedPod({
            namespace: world.namespace,
            name: 'stuck',
            body: [{ op: 'remove', path: '/metadata/finalizers' }],
          })
          .catch(ignoreMissing);
      const attach = (node: string) =>
        harness.kubeConfig.makeApiClient(StorageV1Api).createVolumeAttachment({
          body: {
            metadata: { name: `${world.namespace}-va` },
            spec: { attacher: 'csi.example.com', nodeName: node, source: { persistentVolumeName: 'pv-1' } },
          },
        });
      const detach = () =>
        harness.kubeConfig
          .makeApiClient(StorageV1Api)
          .deleteVolumeAttachment({ name: `${world.namespace}-va` })
          .catch(ignoreMissing);
      /** Which pods we deleted by force. */
      const watching = () => {
        const forced: string[] = [];
        const watched: Cluster = {
          ...cluster,
          forceDelete(pod) {
            forced.push(pod.name);
            return cluster.forceDelete(pod);
          },
        };
        return { forced, watched };
      };

      test('and was drained: its Node goes, once its volumes are detached', async () => {
        const node = await world.node('m', {
          systemUUID: 'u-1',
          annotations: { [bamelKeys.cordonedBy]: 'op-1' },
        });
        await world.machines([{ name: 'm-1', systemUUID: 'u-1' }], {
          ...off(node),
          bootID: (await cluster.node(node))?.bootID,
        });
        await world.setReady(node, 'Unknown');
        await attach(node);
        await world.join();
        expect(await taintsOf(node)).toEqual(['node.kubernetes.io/out-of-service']);
        await detach();
        await world.join();
        expect(await cluster.node(node)).toBeUndefined();
        expect(await world.status('m-1')).toMatchObject({ state: 'off' });
        expect(await world.status('m-1')).not.toHaveProperty('kubernetesNode');
      });

      test('and whose volumes never are: its Node goes after a while, with a warning', async () => {
        const node = await world.node('m', {
          systemUUID: 'u-1',
          annotations: { [bamelKeys.cordonedBy]: 'op-1' },
        });
        await world.machines([{ name: 'm-1', systemUUID: 'u-1' }], {
          ...off(node),
          bootID: (await cluster.node(node))?.bootID,
        });
        await world.setReady(node, 'Unknown');
        await attach(node);
        try {
          await world.join();
          world.clock.pass(2 * minute);
          await world.join();
          expect(await cluster.node(node)).toBeUndefined();
          expect(world.lines.join('')).toContain('volumes are still attached');
        } finally {
          await detach();
        }
      });

      test('and was not: pods that wait for its kubelet are removed by force, its Node stays', async () => {
        const node = await world.node('m', { systemUUID: 'u-1' });
        await world.machines([{ name: 'm-1', systemUUID: 'u-1' }], {
          ...off(node),
          bootID: (await cluster.node(node))?.bootID,
        });
        await world.setReady(node, 'Unknown');
        await stuckPod(node);
        await attach(node);
        const { forced, watched } = watching();
        await world.join({ cluster: watched });
        expect(forced).toEqual(['stuck']);
        expect(await taintsOf(node)).toEqual(['node.kubernetes.io/out-of-service']);
        expect(await cluster.node(node)).toBeDefined();
        await letGo();
        await detach();
      });

      test.each<[string, Partial<MachineStatus>]>([
        ['only by inference', { powerInferred: true }],
        ['as far as anybody knows, but not proven', { powerState: 'unknown' }],
        ['in another boot than the one its node shows', { bootID: 'an-earlier-boot' }],
      ])('%s: nothing is removed', async (_name, status) => {
        const node = await world.node('m', {
          systemUUID: 'u-1',
          annotations: { [bamelKeys.cordonedBy]: 'op-1' },
        });
        const bootID = (await cluster.node(node))?.bootID;
        await world.machines([{ name: 'm-1', systemUUID: 'u-1' }], { ...off(node), bootID, ...status });
        await world.setReady(node, 'Unknown');
        await stuckPod(node);
        const { forced, watched } = watching();
        await world.join({ cluster: watched });
        expect(forced).toEqual([]);
        expect(await cluster.node(node)).toBeDefined();
        await letGo();
      });
    });
  });
}
