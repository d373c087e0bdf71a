import type { Cluster } from '../ports.ts';
import type { KubeClusterOptions } from './kube-cluster.ts';
import type { OpenKube } from './kube-config.ts';

export interface LazyClusterOptions extends Omit<KubeClusterOptions, 'kubeConfig'> {
  readonly open: OpenKube;
}

/** What talks to Kubernetes is loaded when first used, which some functions never do. */
export function lazyCluster(options: LazyClusterOptions): Cluster & { close(): void } {
  let connected: Promise<Cluster & { close(): void }> | undefined;
  const cluster = (): Promise<Cluster & { close(): void }> => {
    connected ??= connect(options);
    return connected;
  };
  return {
    view: async () => (await cluster()).view(),
    podsOn: async (node) => (await cluster()).podsOn(node),
    node: async (name) => (await cluster()).node(name),
    changeNode: async (name, change) => (await cluster()).changeNode(name, change),
    deleteNode: async (name) => (await cluster()).deleteNode(name),
    evict: async (pod) => (await cluster()).evict(pod),
    forceDelete: async (pod) => (await cluster()).forceDelete(pod),
    volumesOn: async (node) => (await cluster()).volumesOn(node),
    tell: async (...event) => (await cluster()).tell(...event),
    close() {
      connected?.then(
        (started) => started.close(),
        // It never started: whoever used it was told why.
        () => undefined,
      );
    },
  };
}

async function connect({ open, ...options }: LazyClusterOptions): Promise<Cluster & { close(): void }> {
  const [kubeConfig, { createKubeCluster }] = await Promise.all([open(), import('./kube-cluster.ts')]);
  return createKubeCluster({ ...options, kubeConfig });
}
