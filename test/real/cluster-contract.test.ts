import { startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode, removeNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { clusterContract } from '../contract/cluster-suite.ts';

describeWith(controlPlanePrograms, 'the cluster contract', () =>
  clusterContract('a real API server', async () => {
    const { kubeConfig, compact, close } = await startControlPlane();
    return {
      kubeConfig,
      addNode: async (name, options) => {
        await addNode(kubeConfig, name, options);
      },
      removeNode: (name) => removeNode(kubeConfig, name),
      compact,
      close,
    };
  }),
);
