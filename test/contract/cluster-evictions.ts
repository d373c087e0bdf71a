import { AppsV1Api, CoreV1Api, PolicyV1Api } from '@kubernetes/client-node';
import { isReady, pause, until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

/** Disruption budgets and the eviction subresource. */
export function evictionTests(subject: Subject): void {
  const core = () => subject.kubeConfig.makeApiClient(CoreV1Api);
  const policy = () => subject.kubeConfig.makeApiClient(PolicyV1Api);
  const podsPath = () => `/api/v1/namespaces/${subject.namespace}/pods`;
  const evict = (name: string) =>
    subject.send('POST', `${podsPath()}/${name}/eviction`, {
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: subject.namespace } },
    });
  const selector = { matchLabels: { app: 'web' } };
  const budget = (name: string, spec: object) =>
    policy().createNamespacedPodDisruptionBudget({
      namespace: subject.namespace,
      body: { metadata: { name }, spec: { selector, ...spec } },
    });
  const allows = (name: string, disruptionsAllowed: number) =>
    until(`${name} allows ${disruptionsAllowed}`, async () => {
      const { status, metadata } = await policy().readNamespacedPodDisruptionBudget({
        namespace: subject.namespace,
        name,
      });
      if (status?.observedGeneration !== metadata?.generation) return undefined;
      return status?.disruptionsAllowed === disruptionsAllowed ? status : undefined;
    });
  const scale = (replicas: number) =>
    subject.send('PATCH', `/apis/apps/v1/namespaces/${subject.namespace}/deployments/web`, {
      body: { spec: { replicas } },
      type: 'application/merge-patch+json',
    });
  const ready = (count: number) =>
    until(`${count} pods are ready`, async () => {
      const { items } = await core().listNamespacedPod({ namespace: subject.namespace });
      const names = items
        .filter((pod) => isReady(pod) && !pod.metadata?.deletionTimestamp)
        .map(({ metadata }) => metadata?.name ?? '');
      return items.length === count && names.length === count ? names : undefined;
    });

  describe('evictions', () => {
    let node = '';
    beforeEach(async () => {
      node = `${subject.namespace}-node`;
      const labels = { 'contract/node': subject.namespace };
      await subject.harness.addNode(node, { labels });
      await subject.kubeConfig.makeApiClient(AppsV1Api).createNamespacedDeployment({
        namespace: subject.namespace,
        body: {
          metadata: { name: 'web' },
          spec: {
            replicas: 2,
            selector,
            template: {
              metadata: { labels: { app: 'web' } },
              spec: { nodeSelector: labels, containers: [pause] },
            },
          },
        },
      });
      await ready(2);
    });
    afterEach(() => subject.harness.removeNode(node));
    const cordon = (unschedulable: boolean) =>
      subject.send('PATCH', `/api/v1/nodes/${node}`, {
        body: { spec: { unschedulable } },
        type: 'application/merge-patch+json',
      });

    test('without a budget a pod is evicted and comes back', async () => {
      const [name = ''] = await ready(2);
      const tried = await subject.send('POST', `${podsPath()}/${name}/eviction`, {
        body: {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name },
          deleteOptions: { dryRun: ['All'] },
        },
      });
      expect(tried.code).toBe(201);
      expect(await ready(2)).toContain(name);
      const evicted = await evict(name);
      expect(evicted).toMatchObject({ code: 201, body: { kind: 'Status', status: 'Success' } });
      await until('it is replaced', async () => !(await ready(2)).includes(name));
      expect((await evict('nobody')).code).toBe(404);
    });

    test('429 while the budget allows nothing, 201 once it does', async () => {
      await budget('web', { minAvailable: 2 });
      const status = await allows('web', 0);
      expect(status).toMatchObject({ currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 });
      const [name = ''] = await ready(2);
      const refused = await evict(name);
      expect(refused).toMatchObject({
        code: 429,
        body: {
          kind: 'Status',
          status: 'Failure',
          reason: 'TooManyRequests',
          message: "Cannot evict pod as it would violate the pod's disruption budget.",
        },
      });
      expect(refused.body.details.causes).toMatchObject([
        {
          reason: 'DisruptionBudget',
          message: 'The disruption budget web needs 2 healthy pods and has 2 currently',
        },
      ]);
      await scale(3);
      await ready(3);
      await allows('web', 1);
      expect((await evict(name)).code).toBe(201);
      await until('it is replaced', async () => !(await ready(3)).includes(name));
    });

    test('of two evictions at once a budget for one lets one pass', async () => {
      await budget('web', { maxUnavailable: 1 });
      await allows('web', 1);
      const names = await ready(2);
      // A replacement that gets ready while the server retries the second eviction would let it pass too.
      await cordon(true);
      const codes = await Promise.all(names.map(async (name) => (await evict(name)).code));
      expect(codes.toSorted()).toEqual([201, 429]);
      await cordon(false);
      await ready(2);
      await allows('web', 1);
    });

    test('percentages are of the wanted replicas, rounded up', async () => {
      await scale(4);
      await ready(4);
      await budget('least', { minAvailable: '60%' });
      expect(await allows('least', 1)).toMatchObject({ desiredHealthy: 3, expectedPods: 4 });
      await policy().deleteNamespacedPodDisruptionBudget({ namespace: subject.namespace, name: 'least' });
      await budget('most', { maxUnavailable: '30%' });
      expect(await allows('most', 2)).toMatchObject({ desiredHealthy: 2, expectedPods: 4 });
    });

    test('a pod with two budgets is not evicted', async () => {
      await budget('one', { minAvailable: 1 });
      await budget('two', { minAvailable: 1 });
      await allows('one', 1);
      await allows('two', 1);
      const [name = ''] = await ready(2);
      const refused = await evict(name);
      expect(refused.body).toMatchObject({ status: 'Failure', code: 500 });
      expect(refused.body.message).toMatch(/more than one PodDisruptionBudget/);
      expect(await ready(2)).toContain(name);
    });

    test('a pod that does not run yet is evicted whatever the budget says', async () => {
      await budget('web', { minAvailable: 2 });
      await allows('web', 0);
      await core().createNamespacedPod({
        namespace: subject.namespace,
        body: {
          metadata: { name: 'waiting', labels: { app: 'web' } },
          spec: { schedulerName: 'nobody', containers: [pause] },
        },
      });
      expect((await evict('waiting')).code).toBe(201);
      expect((await subject.send('GET', `${podsPath()}/waiting`)).code).toBe(404);
    });
  });
}
