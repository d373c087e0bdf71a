import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import { type Cluster, ClusterError } from '../../shared/ports/cluster.ts';
import type { Log } from '../../shared/process/log.ts';

/** Nodes are named up to here: a line stays a line. */
const mostNodes = 4;

/** Says how many pods run, whenever that changes. */
export async function tellPods(cluster: Cluster, clock: Clock, log: Log, signal: AbortSignal): Promise<void> {
  let told = '';
  while (!signal.aborted) {
    const pods = await podsOf(cluster);
    const wanted = (pods ?? []).filter((pod) => !pod.belongsToNode && !pod.terminating && !pod.finished);
    const text = wanted.length === 0 ? 'none' : summary(wanted);
    if (pods && text !== told && !(told === '' && wanted.length === 0))
      log.info({ step: 'pods', wanted: wanted.length, text }, 'pods changed');
    if (pods) told = text;
    await clock.sleep(500, signal);
  }
}

/** Undefined while the cluster does not answer, which a busy computer may bring about: the play goes on. */
async function podsOf(cluster: Cluster): Promise<readonly Pod[] | undefined> {
  try {
    return (await cluster.view()).pods;
  } catch (error) {
    if (error instanceof ClusterError) return undefined;
    throw error;
  }
}

function summary(pods: readonly Pod[]): string {
  const placed = new Map<string, number>();
  for (const { node } of pods) if (node) placed.set(node, (placed.get(node) ?? 0) + 1);
  const named = [...placed].slice(0, mostNodes).map(([node, count]) => `${count} on ${node}`);
  const others = placed.size > mostNodes ? [`the rest on ${placed.size - mostNodes} more`] : [];
  const where = [...named, ...others].join(', ');
  const waiting = pods.filter((pod) => !pod.node).length;
  return `${pods.length - waiting} of ${pods.length} have a node${where && ` (${where})`}`;
}
