import type { ClusterView, Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Considered } from '../../../shared/core/decide/decide.ts';
import { podName } from '../../../shared/core/decide/snapshot.ts';
import type { Left } from './results.ts';

/** Pods that are alike: how many of them waited, and how many of those a decision counted as served. */
export interface Promised {
  readonly group: string;
  readonly waited: number;
  readonly counted: number;
}

export function promisesOf(decision: Considered, view: ClusterView): Promised[] {
  const counted = new Set(decision.assignments().flatMap((one) => one.pods));
  return [...waitingByGroup(view)].map(([group, alike]) => ({
    group,
    waited: alike.length,
    counted: alike.filter((pod) => counted.has(podName(pod))).length,
  }));
}

/**
 * As many pods as were counted as served and have no node, and what the scheduler and a later decision say of them.
 * Which of those that are alike it binds is the scheduler's choice.
 */
export function broken(promises: readonly Promised[], view: ClusterView, later?: Considered): Left[] {
  const onto = new Map(later?.assignments().flatMap((one) => one.pods.map((pod) => [pod, one.on] as const)));
  const describe = (pod: Pod): Left => {
    const place = onto.get(podName(pod));
    const said = later && (place === undefined ? 'unmet; ' : `counted on ${place}; `);
    return { pod: podName(pod), why: `${said ?? ''}${pod.unschedulable}` };
  };
  const waiting = waitingByGroup(view);
  return promises.flatMap(({ group, waited, counted }) =>
    (waiting.get(group) ?? []).slice(waited - counted).map(describe),
  );
}

const waitingByGroup = ({ pods }: ClusterView): Map<string, Pod[]> =>
  Map.groupBy(
    pods.filter(({ node }) => !node),
    ({ labels }) => labels?.group ?? '',
  );
