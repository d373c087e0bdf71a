import {
  ApiException,
  AppsV1Api,
  BatchV1Api,
  CoreV1Api,
  type KubeConfig,
  PolicyV1Api,
  RbacAuthorizationV1Api,
  type V1Pod,
  type V1PodTemplateSpec,
} from '@kubernetes/client-node';
import { type ControlPlane, startControlPlane } from '../../../tools/real-stack/control-plane.ts';
import { addNode, isReady, removeNode } from '../../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../../tools/real-stack/table.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const namespace = 'default';

function template(app: string, cpu: string): V1PodTemplateSpec {
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image: 'none', resources: { requests: { cpu } } }] },
  };
}

async function podsOf(kubeConfig: KubeConfig, app: string): Promise<V1Pod[]> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  return (await core.listNamespacedPod({ namespace, labelSelector: `app=${app}` })).items;
}

async function deploy(kubeConfig: KubeConfig, app: string, replicas: number, cpu: string): Promise<void> {
  await kubeConfig.makeApiClient(AppsV1Api).createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: app },
      spec: { replicas, selector: { matchLabels: { app } }, template: template(app, cpu) },
    },
  });
}

const runningPods = (kubeConfig: KubeConfig, app: string, count: number) =>
  waitFor(`${count} pods of ${app} running`, async () => {
    const pods = (await podsOf(kubeConfig, app)).filter(({ status }) => status?.phase === 'Running');
    return pods.length === count ? pods : undefined;
  });

describeWith(controlPlanePrograms, 'a real control plane', () => {
  let plane: ControlPlane;
  let kubeConfig: KubeConfig;
  let core: CoreV1Api;

  beforeAll(async () => {
    plane = await startControlPlane();
    kubeConfig = plane.kubeConfig;
    core = kubeConfig.makeApiClient(CoreV1Api);
    await addNode(kubeConfig, 'node-1', { cpu: 4, labels: { rack: 'r1' }, systemUUID: 'uuid-1' });
  });
  afterAll(() => plane?.close());

  /** The status code that a call is refused with. */
  async function refusal(call: Promise<unknown>): Promise<number> {
    const error: unknown = await call.then(
      () => undefined,
      (thrown) => thrown,
    );
    if (error instanceof ApiException) return error.code;
    throw new Error(`expected a refusal, got ${error ?? 'success'}`);
  }

  test('a node is what was asked for', async () => {
    const node = await core.readNode({ name: 'node-1' });
    expect(node.metadata?.labels).toMatchObject({ rack: 'r1' });
    expect(node.status?.allocatable).toEqual({ cpu: '4', memory: '8Gi', pods: '110' });
    expect(node.status?.nodeInfo?.systemUUID).toBe('uuid-1');
  });

  test("a Deployment's pods run on a node, and a pod that fits nowhere is Unschedulable", async () => {
    await deploy(kubeConfig, 'web', 2, '500m');
    const pods = await runningPods(kubeConfig, 'web', 2);
    expect(pods.map(({ spec }) => spec?.nodeName)).toEqual(['node-1', 'node-1']);

    await deploy(kubeConfig, 'huge', 1, '64');
    const condition = await waitFor('the huge pod is judged', async () => {
      const [pod] = await podsOf(kubeConfig, 'huge');
      return pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    });
    expect(condition).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect(condition.message).toContain('Insufficient cpu');
  });

  test('a Job completes', async () => {
    const batch = kubeConfig.makeApiClient(BatchV1Api);
    const { spec, metadata } = template('once', '100m');
    const pod = {
      spec: { containers: spec?.containers ?? [], restartPolicy: 'Never' },
      ...(metadata && { metadata }),
    };
    await batch.createNamespacedJob({
      namespace,
      body: { metadata: { name: 'once' }, spec: { template: pod } },
    });
    const done = await waitFor('the job completes', async () => {
      const { status } = await batch.readNamespacedJob({ namespace, name: 'once' });
      return status?.completionTime ? status : undefined;
    });
    expect(done.succeeded).toBe(1);
  });

  test('a disruption budget refuses an eviction with 429 until it allows one', async () => {
    await deploy(kubeConfig, 'guarded', 1, '100m');
    const [pod] = await runningPods(kubeConfig, 'guarded', 1);
    const name = pod?.metadata?.name ?? '';
    const policy = kubeConfig.makeApiClient(PolicyV1Api);
    const budget = {
      metadata: { name: 'guarded' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    };
    await policy.createNamespacedPodDisruptionBudget({ namespace, body: budget });
    await waitFor('the budget counts the pod', async () => {
      const { status } = await policy.readNamespacedPodDisruptionBudget({ namespace, name: 'guarded' });
      return status?.currentHealthy === 1 || undefined;
    });
    const evict = () =>
      core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } });
    expect(await refusal(evict())).toBe(429);

    await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: 'guarded' });
    await waitFor('the eviction is accepted', () => evict().then(() => true));
    const replaced = await waitFor('another pod takes over', async () => {
      const pods = await podsOf(kubeConfig, 'guarded');
      return pods.find(({ metadata, status }) => metadata?.name !== name && status?.phase === 'Running');
    });
    expect(replaced.metadata?.name).not.toBe(name);
    await waitFor(
      'the evicted pod is gone',
      async () => (await refusal(core.readNamespacedPod({ namespace, name }))) === 404 || undefined,
    );
  });

  test('users and service accounts may do only what RBAC allows', async () => {
    const bob = plane.as('bob', ['readers']).makeApiClient(CoreV1Api);
    expect(await refusal(bob.listNode())).toBe(403);
    const rbac = kubeConfig.makeApiClient(RbacAuthorizationV1Api);
    await rbac.createClusterRole({
      body: {
        metadata: { name: 'node-reader' },
        rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }],
      },
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'node-reader' };
    await rbac.createClusterRoleBinding({
      body: {
        metadata: { name: 'readers' },
        roleRef,
        subjects: [
          { kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' },
          { kind: 'ServiceAccount', name: 'default', namespace },
        ],
      },
    });
    const account = (await plane.asServiceAccount(namespace, 'default')).makeApiClient(CoreV1Api);
    for (const reader of [bob, account]) {
      const { items } = await waitFor('the binding works', () => reader.listNode());
      expect(items.map(({ metadata }) => metadata?.name)).toEqual(['node-1']);
      expect(await refusal(reader.listNamespacedPod({ namespace }))).toBe(403);
    }
  });

  test('the kubelets stop and come back: nodes go Unknown, then Ready', async () => {
    plane.kwok.stop();
    const lost = await waitFor('the node is lost', async () => {
      const { status } = await core.readNode({ name: 'node-1' });
      return status?.conditions?.find(({ type, status }) => type === 'Ready' && status !== 'True');
    });
    expect(lost.status).toBe('Unknown');
    plane.kwok.cont();
    const back = await waitFor('the node is back', async () => {
      const node = await core.readNode({ name: 'node-1' });
      return isReady(node) ? node : undefined;
    });
    expect(isReady(back)).toBe(true);
  });

  test('after a compaction an old resourceVersion has expired, and the cluster goes on', async () => {
    const { metadata } = await core.listNode();
    await addNode(kubeConfig, 'node-2');
    await plane.compact();
    // A watch answers 200 and tells in its first event; a list at an exact old version is refused outright.
    const old = { resourceVersion: metadata?.resourceVersion ?? '', resourceVersionMatch: 'Exact' };
    expect(await refusal(core.listNode(old))).toBe(410);
    await removeNode(kubeConfig, 'node-2');
    await deploy(kubeConfig, 'later', 1, '100m');
    expect(await runningPods(kubeConfig, 'later', 1)).toHaveLength(1);
  });
});
