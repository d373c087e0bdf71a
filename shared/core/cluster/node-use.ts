import type { ClusterView } from './cluster.ts';
import { add, type Resources } from './resources.ts';

/** Pods on each node, and what they request. */
export type Use = ReadonlyMap<string, { readonly pods: number; readonly requests: Resources }>;

export function useOf(cluster: Pick<ClusterView, 'pods'> | undefined): Use {
  const use = new Map<string, { pods: number; requests: Resources }>();
  for (const pod of cluster?.pods ?? []) {
    if (!pod.node || pod.finished) continue;
    const before = use.get(pod.node) ?? { pods: 0, requests: {} };
    use.set(pod.node, { pods: before.pods + 1, requests: add(before.requests, pod.requests) });
  }
  return use;
}
