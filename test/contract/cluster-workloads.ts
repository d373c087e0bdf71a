import { AppsV1Api, BatchV1Api, CoreV1Api, type V1Pod } from '@kubernetes/client-node';
import { isReady, pause, until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

/** Deployments and the like, as seen from outside. */
export function workloadTests(subject: Subject): void {
  const core = () => subject.kubeConfig.makeApiClient(CoreV1Api);
  const apps = () => subject.kubeConfig.makeApiClient(AppsV1Api);
  const mine = () => ({ 'contract/node': subject.namespace });
  const added: string[] = [];
  const addNode = async (suffix: string) => {
    const name = `${subject.namespace}-${suffix}`;
    added.push(name);
    await subject.harness.addNode(name, { labels: mine() });
    return name;
  };
  const podsOf = async (app: string): Promise<V1Pod[]> => {
    const { items } = await core().listNamespacedPod({
      namespace: subject.namespace,
      labelSelector: `app=${app}`,
    });
    return items;
  };
  const ready = (app: string, count: number) =>
    until(`${count} pods of ${app} are ready`, async () => {
      const pods = await podsOf(app);
      return pods.length === count && pods.every((pod) => isReady(pod) && !pod.metadata?.deletionTimestamp)
        ? pods
        : undefined;
    });
  const template = (app: string, image = 'app:1') => ({
    metadata: { labels: { app } },
    spec: { nodeSelector: mine(), containers: [{ ...pause, image }] },
  });
  const workload = (app: string, replicas: number) => ({
    metadata: { name: app },
    spec: { replicas, selector: { matchLabels: { app } }, template: template(app) },
  });

  describe('workloads', () => {
    beforeEach(async () => {
      await addNode('node');
    });
    afterEach(async () => {
      await Promise.all(added.splice(0).map((name) => subject.harness.removeNode(name)));
    });

    test('a Deployment runs its pods, replaces deleted ones, scales and counts them', async () => {
      const { namespace } = subject;
      await apps().createNamespacedDeployment({ namespace, body: workload('web', 3) });
      const [first] = await ready('web', 3);
      expect(first?.metadata?.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', controller: true }]);
      await until('its status says so', async () => {
        const { status } = await apps().readNamespacedDeployment({ namespace, name: 'web' });
        const available = status?.conditions?.find(({ type }) => type === 'Available')?.status;
        return status?.readyReplicas === 3 && status.updatedReplicas === 3 && available === 'True';
      });
      await core().deleteNamespacedPod({ namespace, name: first?.metadata?.name ?? '' });
      await until('the pod is replaced', async () => {
        const pods = await ready('web', 3);
        return pods.every(({ metadata }) => metadata?.uid !== first?.metadata?.uid);
      });
      await apps().patchNamespacedDeploymentScale({
        namespace,
        name: 'web',
        body: [{ op: 'replace', path: '/spec/replicas', value: 1 }],
      });
      await ready('web', 1);
    });

    test('a new template replaces the pods; the old ReplicaSet stays, empty', async () => {
      const { namespace } = subject;
      await apps().createNamespacedDeployment({ namespace, body: workload('web', 2) });
      await ready('web', 2);
      const changed = await subject.send('PATCH', `/apis/apps/v1/namespaces/${namespace}/deployments/web`, {
        body: { spec: { template: template('web', 'app:2') } },
        type: 'application/strategic-merge-patch+json',
      });
      expect(changed.code).toBe(200);
      await until('only new pods run', async () => {
        const pods = await ready('web', 2);
        return pods.every((pod) => pod.spec?.containers[0]?.image === 'app:2');
      });
      const sets = await until('the old set is empty', async () => {
        const { items } = await apps().listNamespacedReplicaSet({ namespace });
        return items.length === 2 && items.some((set) => set.spec?.replicas === 0) ? items : undefined;
      });
      const revisions = sets.map(
        ({ metadata }) => metadata?.annotations?.['deployment.kubernetes.io/revision'],
      );
      expect(revisions.toSorted()).toEqual(['1', '2']);
    });

    test('a DaemonSet has a pod on every matching node, also on a new and on a cordoned one', async () => {
      const { namespace } = subject;
      const body = {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
      };
      await apps().createNamespacedDaemonSet({ namespace, body });
      await ready('agent', 1);
      const second = await addNode('second');
      await subject.send('PATCH', `/api/v1/nodes/${second}`, {
        body: { spec: { unschedulable: true } },
        type: 'application/merge-patch+json',
      });
      const pods = await ready('agent', 2);
      expect(new Set(pods.map(({ spec }) => spec?.nodeName)).size).toBe(2);
      expect(pods[0]?.metadata?.ownerReferences?.[0]?.kind).toBe('DaemonSet');
      await until('its status counts them', async () => {
        const { status } = await apps().readNamespacedDaemonSet({ namespace, name: 'agent' });
        return status?.desiredNumberScheduled === 2 && status.numberReady === 2;
      });
    });

    test('a StatefulSet numbers its pods and starts them one after the other', async () => {
      const { namespace } = subject;
      const { metadata, spec } = workload('db', 3);
      await apps().createNamespacedStatefulSet({
        namespace,
        body: { metadata, spec: { ...spec, serviceName: 'db' } },
      });
      const pods = await ready('db', 3);
      expect(pods.map((pod) => pod.metadata?.name).toSorted()).toEqual(['db-0', 'db-1', 'db-2']);
      await core().deleteNamespacedPod({ namespace, name: 'db-1' });
      await until('the same name comes back', async () => {
        const { metadata: now } = await core().readNamespacedPod({ namespace, name: 'db-1' });
        return now?.uid !== pods.find((pod) => pod.metadata?.name === 'db-1')?.metadata?.uid;
      });
      await ready('db', 3);
    });

    test('a Job runs its pods to the end and says that it is complete', async () => {
      const { namespace } = subject;
      const batch = subject.kubeConfig.makeApiClient(BatchV1Api);
      const spec = { ...template('once').spec, restartPolicy: 'Never' };
      await batch.createNamespacedJob({
        namespace,
        body: {
          metadata: { name: 'once' },
          spec: { completions: 3, parallelism: 2, template: { ...template('once'), spec } },
        },
      });
      const { status } = await until('it is complete', async () => {
        const job = await batch.readNamespacedJob({ namespace, name: 'once' });
        const complete = job.status?.conditions?.some(
          ({ type, status: is }) => type === 'Complete' && is === 'True',
        );
        return complete ? job : undefined;
      });
      expect(status).toMatchObject({ succeeded: 3, completionTime: expect.any(Date) });
      const pods = await podsOf('once');
      expect(pods.map((pod) => pod.status?.phase)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
      expect(pods[0]?.metadata?.labels?.['batch.kubernetes.io/job-name']).toBe('once');
    });

    test('what belongs to a deleted owner goes with it', async () => {
      const { namespace } = subject;
      await apps().createNamespacedDeployment({ namespace, body: workload('web', 2) });
      await ready('web', 2);
      await apps().deleteNamespacedDeployment({ namespace, name: 'web' });
      await until('replica sets and pods are gone', async () => {
        const { items } = await apps().listNamespacedReplicaSet({ namespace });
        return !items.length && !(await podsOf('web')).length;
      });
    });

    test('in the foreground the owner goes last', async () => {
      const { namespace } = subject;
      await apps().createNamespacedReplicaSet({ namespace, body: workload('web', 1) });
      const [pod] = await ready('web', 1);
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      const hold = { metadata: { finalizers: ['example.com/hold'] } };
      const type = 'application/merge-patch+json';
      await subject.send('PATCH', `${pods}/${pod?.metadata?.name}`, { body: hold, type });
      await apps().deleteNamespacedReplicaSet({ namespace, name: 'web', propagationPolicy: 'Foreground' });
      await until('the pod is being deleted', async () => {
        const { body } = await subject.send('GET', `${pods}/${pod?.metadata?.name}`);
        return body.metadata.deletionTimestamp;
      });
      const owner = await subject.send('GET', `/apis/apps/v1/namespaces/${namespace}/replicasets/web`);
      expect(owner.body.metadata.finalizers).toEqual(['foregroundDeletion']);
      await subject.send('PATCH', `${pods}/${pod?.metadata?.name}`, {
        body: { metadata: { finalizers: null } },
        type,
      });
      await until(
        'the owner is gone',
        async () =>
          (await subject.send('GET', `/apis/apps/v1/namespaces/${namespace}/replicasets/web`)).code === 404,
      );
    });

    test('orphaned pods stay', async () => {
      const { namespace } = subject;
      await apps().createNamespacedReplicaSet({ namespace, body: workload('web', 1) });
      const [pod] = await ready('web', 1);
      await apps().deleteNamespacedReplicaSet({ namespace, name: 'web', propagationPolicy: 'Orphan' });
      await until(
        'the owner is gone',
        async () =>
          (await subject.send('GET', `/apis/apps/v1/namespaces/${namespace}/replicasets/web`)).code === 404,
      );
      const [left] = await podsOf('web');
      expect(left?.metadata?.uid).toBe(pod?.metadata?.uid);
      expect(left?.metadata?.ownerReferences).toBeUndefined();
    });

    test('an object whose owner does not exist is collected', async () => {
      const maps = `/api/v1/namespaces/${subject.namespace}/configmaps`;
      const uid = '00000000-0000-0000-0000-000000000000';
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid }];
      await subject.send('POST', maps, { body: { metadata: { name: 'orphan', ownerReferences } } });
      await until('it is gone', async () => (await subject.send('GET', `${maps}/orphan`)).code === 404);
    });
  });
}
