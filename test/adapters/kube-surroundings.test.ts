import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  type KubernetesListObject,
  PolicyV1Api,
  StorageV1Api,
  type V1StorageClass,
} from '@kubernetes/client-node';
import { createCache } from '../../shared/adapters/kubernetes/cache.ts';
import { createKubeClient } from '../../shared/adapters/kubernetes/client.ts';
import { createKubeCluster } from '../../shared/adapters/kubernetes/cluster.ts';
import { ApiException, kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createLog } from '../../shared/process/log.ts';
import { startApi } from '../../simulator/lab/api/index.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { fastClock } from '../contract/cluster-adapter-suite.ts';

const log = createLog({ level: 'silent', format: 'json' });
let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

async function startLab(): Promise<KubeConfig> {
  const api = await startApi();
  cleanup.defer(() => api.close());
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return kubeConfig;
}

test('what decides about pods besides pods and nodes is in the view, and stays up to date', async () => {
  const kubeConfig = await startLab();
  const cluster = createKubeCluster({ transport: kubeTransport(kubeConfig), clock: fastClock(10), log });
  cleanup.defer(() => cluster.close());
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const template = {
    metadata: { labels: { app: 'log' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const selector = { matchLabels: { app: 'log' } };
  await core.createNamespace({ body: { metadata: { name: 'red', labels: { team: 'x' } } } });
  await kubeConfig.makeApiClient(AppsV1Api).createNamespacedDaemonSet({
    namespace: 'red',
    body: { metadata: { name: 'log' }, spec: { selector, template } },
  });
  await kubeConfig.makeApiClient(PolicyV1Api).createNamespacedPodDisruptionBudget({
    namespace: 'red',
    body: { metadata: { name: 'budget' }, spec: { minAvailable: 1, selector } },
  });
  await kubeConfig.makeApiClient(StorageV1Api).createStorageClass({
    body: { metadata: { name: 'later' }, provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' },
  });
  await core.createNamespacedPersistentVolumeClaim({
    namespace: 'red',
    body: {
      metadata: { name: 'data' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'later',
        resources: { requests: { storage: '1Gi' } },
      },
    },
  });
  await core.createPersistentVolume({
    body: {
      metadata: { name: 'disk' },
      spec: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    },
  });
  await eventually(async () => {
    const view = await cluster.view();
    expect(view).toMatchObject({
      daemonSets: [
        { namespace: 'red', name: 'log', template: { labels: { app: 'log' }, belongsToNode: true } },
      ],
      budgets: [
        {
          namespace: 'red',
          name: 'budget',
          selector: [{ key: 'app', operator: 'In', values: ['log'] }],
          disruptionsAllowed: 0,
        },
      ],
      claims: [{ namespace: 'red', name: 'data', requested: 2 ** 30, bound: false }],
      volumes: [{ name: 'disk', capacity: 2 ** 31 }],
      storageClasses: [{ name: 'later', waits: true, provisioner: 'x' }],
      unread: undefined,
    });
    expect(view.namespaces).toContainEqual({ name: 'red', labels: expect.objectContaining({ team: 'x' }) });
  });
  await kubeConfig.makeApiClient(StorageV1Api).deleteStorageClass({ name: 'later' });
  await eventually(async () => expect((await cluster.view()).storageClasses).toEqual([]));
});

test.each([403, 404])(
  'a kind that the server answers %s for is refused, until it no longer is',
  async (code) => {
    const answers: (KubernetesListObject<V1StorageClass> | Error)[] = [
      new ApiException({ status: code, text: JSON.stringify({ message: 'you may not' }), headers: {} }),
    ];
    const kubeConfig = await startLab();
    const cache = createCache<V1StorageClass, string>({
      kube: createKubeClient(kubeTransport(kubeConfig), { readMs: 5_000, writeMs: 5_000 }),
      path: '/apis/storage.k8s.io/v1/storageclasses',
      list: async () => {
        const [answer] = answers;
        if (!answer || answer instanceof Error) throw answer;
        return answer;
      },
      keep: ({ metadata }) => metadata?.name ?? '',
      onChange: () => {},
      // The next attempt is made half a minute later.
      clock: fastClock(20),
      log,
      optional: true,
    });
    cleanup.defer(() => cache.close());
    await expect(cache.all()).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(
        /storageclasses could not be read \(40[34]: you may not\): give our account/,
      ),
    });
    answers[0] = {
      items: [{ metadata: { name: 'fast' }, provisioner: 'x' }],
      metadata: { resourceVersion: '1' },
    } as KubernetesListObject<V1StorageClass>;
    await eventually(async () => expect(await cache.all()).toEqual(['fast']));
  },
);
