import { startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { addNode, removeNode } from '../../tools/real-stack/nodes.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import type { ClusterHarness } from '../contract/cluster-client.ts';
import { drainContract } from '../contract/drain-suite.ts';
import { joinContract } from '../contract/join-suite.ts';
import { describeWith } from '../support/programs.ts';

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
