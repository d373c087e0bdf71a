import { startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode, removeNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith } from '../../tools/support/programs.ts';
import type { ClusterHarness } from '../../tools/worlds/cluster-client.ts';
import { drainContract } from '../contract/drain-suite.ts';
import { joinContract } from '../contract/join-suite.ts';

async function start(): Promise<ClusterHarness> {
  const { kubeConfig, close } = await startControlPlane();
  return {
    kubeConfig,
    addNode: async (name, options) => {
      await addNode(kubeConfig, name, options);
    },
    removeNode: (name) => removeNode(kubeConfig, name),
    close,
  };
}

describeWith(controlPlanePrograms, 'nodes that come and go', () => {
  drainContract('a real API server', start);
  joinContract('a real API server', start);
});
