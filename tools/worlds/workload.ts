import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  type V1PodSpec,
} from '@kubernetes/client-node';

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** The people of a story: they scale deployments and look at pods and nodes. */
export function workloadsOf(kubeconfig: string, namespace: string) {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(kubeconfig);
  const apps = kubeConfig.makeApiClient(AppsV1Api);
  const core = kubeConfig.makeApiClient(CoreV1Api);
  return {
    core,
    async createNamespace(): Promise<void> {
      await core.createNamespace({ body: { metadata: { name: namespace } } });
    },
    async deploy(
      name: string,
      replicas: number,
      requests: Record<string, string>,
      pod: Partial<V1PodSpec> = {},
    ): Promise<void> {
      const labels = { app: name };
      await apps.createNamespacedDeployment({
        namespace,
        body: {
          metadata: { name },
          spec: {
            replicas,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: {
                ...pod,
                terminationGracePeriodSeconds: 1,
                containers: [{ name: 'main', image: 'example/main', resources: { requests } }],
              },
            },
          },
        },
      });
    },
    /** A budget that never gives way. */
    async protect(app: string): Promise<void> {
      await kubeConfig.makeApiClient(PolicyV1Api).createNamespacedPodDisruptionBudget({
        namespace,
        body: { metadata: { name: app }, spec: { minAvailable: 1, selector: { matchLabels: { app } } } },
      });
    },
    async scale(name: string, replicas: number): Promise<void> {
      await apps.patchNamespacedDeployment({ namespace, name, body: { spec: { replicas } } }, mergePatch);
    },
    /** "namespace/name on node", of running pods that are not on their way out. */
    async running(name: string): Promise<string[]> {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `app=${name}` });
      return items
        .filter(({ status, metadata }) => status?.phase === 'Running' && !metadata?.deletionTimestamp)
        .map(({ spec }) => spec?.nodeName ?? '')
        .sort();
    },
    async nodes(): Promise<string[]> {
      return (await core.listNode()).items.map(({ metadata }) => metadata?.name ?? '').sort();
    },
  };
}

export type Workloads = ReturnType<typeof workloadsOf>;
