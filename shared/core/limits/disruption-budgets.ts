import type { DisruptionBudget, Labels, Pod } from '../cluster/cluster.ts';
import { selects } from '../simulate/requirements.ts';

/** PodDisruptionBudgets, with what this round has used of them. */
export interface Budgets {
  of(pod: Pod): readonly DisruptionBudget[];
  /** The budget that does not allow all of these pods to be evicted, or nothing; allowed ones count from now on. */
  use(pods: readonly Pod[]): DisruptionBudget | undefined;
  giveBack(pods: readonly Pod[]): void;
}

const unlabelled: Labels = {};

export function createBudgets(budgets: readonly DisruptionBudget[] | undefined): Budgets {
  const byNamespace = new Map<string, DisruptionBudget[]>();
  for (const budget of budgets ?? [])
    byNamespace.set(budget.namespace, [...(byNamespace.get(budget.namespace) ?? []), budget]);
  const used = new Map<DisruptionBudget, number>();
  const none: readonly DisruptionBudget[] = [];
  /** Pods of one template share their labels: they are matched once. */
  const known = new Map<string, Map<Labels, readonly DisruptionBudget[]>>();
  const of = (pod: Pod): readonly DisruptionBudget[] => {
    const budgetsThere = byNamespace.get(pod.namespace);
    if (!budgetsThere) return none;
    const labels = pod.labels ?? unlabelled;
    const byLabels = known.get(pod.namespace) ?? new Map<Labels, readonly DisruptionBudget[]>();
    known.set(pod.namespace, byLabels);
    let found = byLabels.get(labels);
    if (!found) {
      found = budgetsThere.filter(({ selector }) => selects(selector, labels));
      byLabels.set(labels, found);
    }
    return found;
  };
  const change = (pods: readonly Pod[], by: 1 | -1): void => {
    for (const pod of pods) for (const budget of of(pod)) used.set(budget, (used.get(budget) ?? 0) + by);
  };
  return {
    of,
    use(pods) {
      if (byNamespace.size === 0) return undefined;
      change(pods, 1);
      for (const pod of pods)
        for (const budget of of(pod))
          if ((used.get(budget) ?? 0) > budget.disruptionsAllowed) {
            change(pods, -1);
            return budget;
          }
      return undefined;
    },
    giveBack: (pods) => {
      if (byNamespace.size > 0) change(pods, -1);
    },
  };
}
