import { KubeConfig } from '@kubernetes/client-node';
import { startApi } from '../../simulator/lab/api/index.ts';
import { startControllers } from '../../simulator/lab/controllers/index.ts';
import { syncContract } from './sync-suite.ts';

syncContract('the lab', async () => {
  const api = await startApi();
  const controllers = startControllers(api);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return {
    kubeConfig,
    close: async () => {
      controllers.stop();
      await api.close();
    },
  };
});
