import type { ClusterView, Pod } from '../../../shared/core/cluster.ts';
import type { Considered } from '../../../shared/core/decide.ts';
import { podName } from '../../../shared/core/snapshot.ts';
import type { Left } from './results.ts';

/** Pods that are alike and waited, and how many of them a decision counted as served. Which ones is the scheduler's choice. */
export interface Promised {
  readonly pods: ReadonlySet<string>;
  readonly counted: number;
}

export function promisesOf(decision: Considered, { pods }: ClusterView): Promised[] {
  const counted = new Set(decision.assignments().flatMap((one) => one.pods));
  const waiting = pods.filter(({ node }) => !node);
  return [...Map.groupBy(waiting, ({ labels }) => labels?.group).values()].map((alike) => ({
    pods: new Set(alike.map(podName)),
    counted: alike.filter((pod) => counted.has(podName(pod))).length,
  }));
}

/** As many pods as were counted as served and have no node, and what the scheduler and a later decision say of them. */
export function broken(promises: readonly Promised[], { pods }: ClusterView, later?: Considered): Left[] {
  const unbound = new Map(pods.filter(({ node }) => !node).map((pod) => [podName(pod), pod]));
  const onto = new Map(later?.assignments().flatMap((one) => one.pods.map((pod) => [pod, one.on] as const)));
  const describe = (name: string, pod: Pod): Left => {
    const said = later && (onto.has(name) ? `counted on ${onto.get(name)}; ` : 'unmet; ');
    return { pod: name, why: `${said ?? ''}${pod.unschedulable}` };
  };
  return promises.flatMap((promise) => {
    const left = [...unbound].filter(([name]) => promise.pods.has(name));
    const expected = promise.pods.size - promise.counted;
    return left.slice(0, Math.max(0, left.length - expected)).map(([name, pod]) => describe(name, pod));
  });
}
