import type { Condition, Pod } from '../api/objects.ts';

export const isFinished = ({ status }: Pod) => status.phase === 'Succeeded' || status.phase === 'Failed';

/** Counts as a replica: neither finished nor on its way out. */
export const isActive = (pod: Pod) => !isFinished(pod) && !pod.metadata.deletionTimestamp;

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((condition) => condition.type === type);

export const isReady = ({ status }: Pod) => conditionOf(status.conditions, 'Ready')?.status === 'True';

/** Sets one condition; its transition time moves only when its status does. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  next: Condition,
  at: string,
): Condition[] {
  const before = conditionOf(conditions, next.type);
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? at) : at;
  const full = { ...next, lastTransitionTime };
  if (!before) return [...(conditions ?? []), full];
  return (conditions ?? []).map((condition) => (condition.type === next.type ? full : condition));
}

/** An absolute number or a percentage of `total`. */
export function amountOf(value: number | string, total: number, round: (amount: number) => number): number {
  if (typeof value === 'number') return value;
  return value.endsWith('%') ? round((Number.parseInt(value, 10) / 100) * total) : Number.parseInt(value, 10);
}
