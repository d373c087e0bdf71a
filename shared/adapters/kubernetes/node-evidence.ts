import { matchNode } from '../../core/cluster/match.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Cluster, ClusterError } from '../../ports/cluster.ts';
import { type DriverDeps, PowerError } from '../../ports/power.ts';
import type { KubeClient } from './client.ts';
import { ifFound, toPowerError } from './errors.ts';

/**
 * What Kubernetes knows of a machine, read afresh: which node it is comes from the cluster's cache, when its kubelet
 * was last heard of from the node's lease.
 */
export function nodeEvidence(
  cluster: Pick<Cluster, 'view'>,
  kube: KubeClient,
  clock: Pick<Clock, 'now'>,
): DriverDeps['nodeOf'] {
  return async (spec) => {
    const known = matchNode({ spec }, await nodesOf(cluster))?.node;
    if (!known) return undefined;
    const { name } = known;
    try {
      const [node, lease] = await Promise.all([
        ifFound(kube.apis.core.readNode({ name })),
        ifFound(kube.apis.coordination.readNamespacedLease({ namespace: 'kube-node-lease', name })),
      ]);
      if (!node) return undefined;
      // Typed as a date, but it is the text that came.
      const renewed = new Date(lease?.spec?.renewTime ?? Number.NaN).getTime();
      return {
        node: name,
        ready: (node.status?.conditions ?? []).some(
          ({ type, status }) => type === 'Ready' && status === 'True',
        ),
        bootID: node.status?.nodeInfo?.bootID,
        // A clock that is ahead of ours is no reason to doubt the heartbeat.
        ...(!Number.isNaN(renewed) && { heartbeatAgeMs: Math.max(0, clock.now() - renewed) }),
        addresses: (node.status?.addresses ?? [])
          .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
          .map(({ address }) => address),
      };
    } catch (error) {
      throw toPowerError(`node ${name}`, error);
    }
  };
}

async function nodesOf(cluster: Pick<Cluster, 'view'>) {
  try {
    return (await cluster.view()).nodes;
  } catch (error) {
    if (error instanceof ClusterError) throw new PowerError('unreachable', error.message);
    throw error;
  }
}
