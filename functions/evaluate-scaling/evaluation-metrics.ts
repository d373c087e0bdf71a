import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import type { Metrics } from '../../shared/process/metrics.ts';

/** Starts the timer of an evaluation. The returned function records its outcome. */
export function countEvaluation(metrics: Metrics | undefined) {
  const stopTimer = metrics?.evaluationDuration.startTimer();
  return (record: DecisionRecord, outcome: 'acted' | 'idle' | 'dry-run'): void => {
    const { waiting, unmet } = demandOf(record);
    stopTimer?.();
    metrics?.evaluations.inc({ outcome });
    metrics?.podsWaiting.set(waiting);
    metrics?.podsUnmet.set(unmet);
  };
}

/** Pods that wait, and those of them that no machine can be powered on for. */
export const demandOf = ({ demand, unmet }: Pick<DecisionRecord, 'demand' | 'unmet'>) => ({
  waiting: sum(demand),
  unmet: sum(unmet),
});

const sum = (groups: readonly { readonly pods: number }[]): number =>
  groups.reduce((pods, group) => pods + group.pods, 0);
