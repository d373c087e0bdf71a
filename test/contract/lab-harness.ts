import { KubeConfig } from '@kubernetes/client-node';
import { startApi } from '../../simulator/lab/api/index.ts';
import { nodes } from '../../simulator/lab/api/resource-types.ts';
import { startControllers } from '../../simulator/lab/controllers/index.ts';
import type { ClusterHarness } from '../../tools/worlds/cluster-client.ts';
import { type NodeOptions, nodeObject, runPods } from '../../tools/worlds/cluster-kubelet.ts';

const longerThanAnyTest = 3_600_000;

/** The lab's API with its controllers; nodes have no kubelet that could fall silent. */
export const startLabHarness = () => startLabApi({}, { nodeGraceMs: longerThanAnyTest });

/** The lab's API with its controllers, and pods that run as soon as they have a node. */
export async function startLabApi(
  options: Parameters<typeof startApi>[0] = {},
  controlled: Parameters<typeof startControllers>[1] = {},
) {
  const api = await startApi(options);
  const controllers = startControllers(api, { podGcMs: 200, ...controlled });
  const stopPods = runPods(api.store);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return {
    api,
    kubeConfig,
    addNode: async (name: string, more?: NodeOptions) => {
      api.store.create(nodes, nodeObject(name, more));
    },
    removeNode: async (name: string) => {
      api.store.delete(nodes, undefined, name);
    },
    compact: async () => api.store.compact(),
    close: async () => {
      stopPods();
      controllers.stop();
      await api.close();
    },
  } satisfies ClusterHarness & { api: unknown; compact(): Promise<void> };
}
