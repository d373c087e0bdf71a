import { AppsV1Api, CoreV1Api, type V1Pod } from '@kubernetes/client-node';
import { functionTable } from '../../../functions/index.ts';
import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { type ClusterSource, startClusterSource } from '../../../tools/real-stack/knative/cluster-source.ts';
import { addNode, isReady } from '../../../tools/real-stack/nodes.ts';
import { type Recorder, startRecorder } from '../../../tools/real-stack/recorder.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { type BuiltFolder, buildFolder } from '../../../tools/support/build-folder.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const nodes = Array.from({ length: 10 }, (_, index) => `node-${index}`);
const nodeChanged = 'dev.bamel.node.changed';
const podWaiting = 'dev.bamel.pod.waiting';
const jsonPatch = (path: string, value: unknown) => [{ op: 'add', path, value }];

const wokenBy = (type: string): string[] =>
  functionTable
    .filter(({ definition }) => definition.wakesOn.includes(type))
    .map(({ definition }) => definition.name);

describeWith(controlPlanePrograms, 'what of a busy cluster wakes functions', () => {
  const cleanup = new AsyncDisposableStack();
  let plane: ControlPlane;
  let core: CoreV1Api;
  let apps: AppsV1Api;
  let recorder: Recorder;
  let source: ClusterSource;
  let built: BuiltFolder;

  beforeAll(async () => {
    built = await buildFolder();
    cleanup.defer(() => built.remove());
    plane = await startControlPlane();
    cleanup.defer(() => plane.close());
    core = plane.kubeConfig.makeApiClient(CoreV1Api);
    apps = plane.kubeConfig.makeApiClient(AppsV1Api);
    for (const name of nodes) await addNode(plane.kubeConfig, name, { cpu: 8 });
    await core.createNamespace({ body: { metadata: { name: 'bamel' } } });
    await deploy('web', 40, '1');
    await waitFor('40 pods running', async () => (await running('web')).length === 40 || undefined);
    recorder = await startRecorder();
    cleanup.defer(() => recorder.close());
    source = await startClusterSource({
      path: built.program('function'),
      kubeConfigFile: plane.kubeConfigFile,
      sink: `http://127.0.0.1:${recorder.port}/`,
    });
    cleanup.defer(() => source.remove());
  }, 300_000);
  afterAll(() => cleanup.disposeAsync(), 60_000);

  const template = (app: string, cpu: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu } } }] },
  });
  const deploy = (app: string, replicas: number, cpu: string, namespace = 'default') =>
    apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: app },
        spec: { replicas, selector: { matchLabels: { app } }, template: template(app, cpu) },
      },
    });
  const podsOf = async (app: string, namespace = 'default'): Promise<V1Pod[]> =>
    (await core.listNamespacedPod({ namespace, labelSelector: `app=${app}` })).items;
  const running = async (app: string) =>
    (await podsOf(app)).filter(({ status }) => status?.phase === 'Running');
  const unschedulable = (app: string, namespace?: string) =>
    waitFor(`${app} waiting`, async () => {
      const pods = await podsOf(app, namespace);
      const waits = ({ status }: V1Pod) =>
        status?.conditions?.some(({ reason }) => reason === 'Unschedulable');
      return (pods.length > 0 && pods.every(waits)) || undefined;
    });
  /** The types sent since. First both watches are made to say something new: everything before it has been seen. */
  const sentSince = async (start: number): Promise<string[]> => {
    const mark = recorder.got.length;
    await core.patchNodeStatus({
      name: 'node-0',
      body: jsonPatch('/status/nodeInfo/bootID', `boot-${mark}`),
    });
    await core.createNamespacedPod({
      namespace: 'default',
      body: { ...template('mark', '100'), metadata: { name: `mark-${mark}` } },
    });
    const types = () => recorder.got.slice(mark).map(({ type }) => type);
    await eventually(() => expect(types()).toEqual(expect.arrayContaining([nodeChanged, podWaiting])));
    const sent = recorder.got.slice(start).map(({ type }) => type);
    for (const type of [nodeChanged, podWaiting]) sent.splice(sent.lastIndexOf(type), 1);
    return sent;
  };

  test('what is there at the start is sent as one or two events, however many nodes there are', async () => {
    await eventually(() => expect(recorder.got.map(({ type }) => type)).toContain(nodeChanged));
    expect(recorder.got.filter(({ type }) => type !== nodeChanged)).toEqual([]);
    expect(recorder.got.length).toBeLessThan(nodes.length);
  });

  test('1,000 ordinary updates of pods and nodes wake nobody', async () => {
    // The start itself is over.
    await sentSince(0);
    const start = recorder.got.length;
    const pods = await running('web');
    const heartbeat = (round: number) =>
      nodes.map((name) =>
        core.patchNodeStatus({
          name,
          body: jsonPatch('/status/conditions/0/lastHeartbeatTime', new Date(round * 60_000).toISOString()),
        }),
      );
    let updates = 0;
    for (let round = 1; round <= 20; round += 1) {
      const changes = [
        ...pods.map(({ metadata }) =>
          core.patchNamespacedPod({
            namespace: 'default',
            name: metadata?.name ?? '',
            body: jsonPatch('/metadata/labels/round', String(round)),
          }),
        ),
        ...heartbeat(round),
      ];
      await Promise.all(changes);
      updates += changes.length;
    }
    expect(updates).toBe(1_000);
    expect(await sentSince(start)).toEqual([]);
  }, 180_000);

  test('pods that come, run and go wake nobody', async () => {
    const start = recorder.got.length;
    await deploy('short', 20, '100m');
    await waitFor('20 pods running', async () => (await running('short')).length === 20 || undefined);
    await apps.deleteNamespacedDeployment({ namespace: 'default', name: 'short' });
    await waitFor('none left', async () => (await podsOf('short')).length === 0 || undefined);
    expect(await sentSince(start)).toEqual([]);
  }, 180_000);

  test('neither do a DaemonSet whose pods find no room, and pods of the installation itself', async () => {
    const start = recorder.got.length;
    await apps.createNamespacedDaemonSet({
      namespace: 'default',
      body: {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent', '100') },
      },
    });
    await deploy('function', 3, '100', 'bamel');
    await unschedulable('agent');
    await unschedulable('function', 'bamel');
    expect(await sentSince(start)).toEqual([]);
  }, 180_000);

  test('a pod that waits wakes evaluate-scaling alone, once; 30 at once hardly more often', async () => {
    const start = recorder.got.length;
    await deploy('one', 1, '100');
    await unschedulable('one');
    await eventually(() => expect(recorder.got.length).toBeGreaterThan(start));
    expect(await sentSince(start)).toEqual([podWaiting]);
    const many = recorder.got.length;
    await deploy('many', 30, '100');
    await unschedulable('many');
    const sent = await sentSince(many);
    expect(new Set(sent)).toEqual(new Set([podWaiting]));
    console.log(`30 pods that wait: ${sent.length} events`);
    expect(wokenBy(podWaiting)).toEqual(['evaluate-scaling']);
  }, 180_000);

  test('a node that joins wakes join-watcher', async () => {
    const start = recorder.got.length;
    await addNode(plane.kubeConfig, 'node-new', { cpu: 8 });
    await waitFor('it is Ready', async () => isReady(await core.readNode({ name: 'node-new' })) || undefined);
    expect(await sentSince(start)).toContain(nodeChanged);
    expect(wokenBy(nodeChanged)).toEqual(['join-watcher']);
  }, 120_000);
});
