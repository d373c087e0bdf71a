import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import type { Metrics } from '../../shared/process/metrics.ts';

/** Starts the timer of an evaluation. The returned function records its outcome. */
export function countEvaluation(metrics: Metrics | undefined) {
  const stopTimer = metrics?.evaluationDuration.startTimer();
  return ({ demand, unmet }: DecisionRecord, outcome: 'acted' | 'idle' | 'dry-run'): void => {
    stopTimer?.();
    metrics?.evaluations.inc({ outcome });
    metrics?.podsWaiting.set(sum(demand));
    metrics?.podsUnmet.set(sum(unmet));
  };
}

const sum = (groups: readonly { readonly pods: number }[]): number =>
  groups.reduce((pods, group) => pods + group.pods, 0);
