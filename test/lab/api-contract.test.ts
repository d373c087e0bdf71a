import { KubeConfig } from '@kubernetes/client-node';
import { startApi } from '../../simulator/lab/api/index.ts';
import { nodes } from '../../simulator/lab/api/resource-types.ts';
import { startControllers } from '../../simulator/lab/controllers/index.ts';
import { nodeObject, runPods } from '../../tools/worlds/cluster-kubelet.ts';
import { clusterContract } from '../contract/cluster-suite.ts';

clusterContract('the lab', async () => {
  const api = await startApi();
  const controllers = startControllers(api, { podGcMs: 200 });
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
    compact: async () => api.store.compact(),
    close: async () => {
      stopPods();
      controllers.stop();
      await api.close();
    },
  };
});
