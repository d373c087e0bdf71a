import { KubeConfig } from '@kubernetes/client-node';
import { startApi } from '../../simulator/lab/api/index.ts';
import { nodes } from '../../simulator/lab/api/resource-types.ts';
import { startControllers } from '../../simulator/lab/controllers/index.ts';
import type { ClusterHarness } from '../../tools/worlds/cluster-client.ts';
import { nodeObject, runPods } from '../../tools/worlds/cluster-kubelet.ts';

const longerThanAnyTest = 3_600_000;

/** The lab's API with its controllers; nodes have no kubelet that could fall silent. */
export async function startLabHarness(): Promise<ClusterHarness> {
  const api = await startApi();
  const controllers = startControllers(api, { podGcMs: 200, nodeGraceMs: longerThanAnyTest });
  const stopPods = runPods(api.store);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return {
    kubeConfig,
    addNode: async (name, options) => {
      api.store.create(nodes, nodeObject(name, options));
    },
    removeNode: async (name) => {
      api.store.delete(nodes, undefined, name);
    },
    close: async () => {
      stopPods();
      controllers.stop();
      await api.close();
    },
  };
}
