import { matchNode } from '../core/match.ts';
import { type Clock, type Cluster, ClusterError, type DriverDeps, PowerError } from '../ports.ts';
import { asked, ifThere, type KubeAccess } from './kube-access.ts';

/**
 * What Kubernetes knows of a machine, read afresh: which node it is comes from the cluster's cache, when its kubelet
 * was last heard of from the node's lease.
 */
export function nodeEvidence(
  cluster: Pick<Cluster, 'view'>,
  access: () => Promise<KubeAccess>,
  clock: Pick<Clock, 'now'>,
): DriverDeps['nodeOf'] {
  return async (spec) => {
    const known = matchNode({ spec }, await nodesOf(cluster))?.node;
    if (!known) return undefined;
    const kube = await access();
    const { name } = known;
    const { CoreV1Api, CoordinationV1Api } = kube.client;
    return asked(kube, `node ${name}`, async () => {
      const [node, lease] = await Promise.all([
        ifThere(kube, kube.api(CoreV1Api).readNode({ name })),
        ifThere(
          kube,
          kube.api(CoordinationV1Api).readNamespacedLease({ namespace: 'kube-node-lease', name }),
        ),
      ]);
      if (!node) return undefined;
      // Typed as a date, but the client leaves the text as it came.
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
    });
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
