import type { Resource } from '../../shared/ports/resources.ts';
import type { Condition } from '../../shared/schema/resource-status.ts';
import type { SyncContext } from './sync-context.ts';

export type ConditionInput = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const condition = (
  type: string,
  holds: boolean | undefined,
  reason: string,
  message: string,
): ConditionInput => ({
  type,
  status: holds === undefined ? 'Unknown' : holds ? 'True' : 'False',
  reason,
  message,
});

/** Our conditions with those of others kept; lastTransitionTime moves only when a status does. */
export function conditionsFor(resource: Resource, ours: readonly ConditionInput[], now: number): Condition[] {
  const before = (resource.status.conditions ?? []) as readonly Condition[];
  const known = new Set<string>(conditionTypes);
  return [
    ...before.filter(({ type }) => !known.has(type)),
    ...ours.map((condition): Condition => {
      const old = before.find(({ type }) => type === condition.type);
      const since = old?.status === condition.status ? old.lastTransitionTime : timeText(now);
      return { ...condition, observedGeneration: resource.generation, lastTransitionTime: since };
    }),
  ];
}

/** The condition types that we set: those that no longer apply are removed. */
const conditionTypes = ['Accepted', 'Operated', 'Ready', 'Healthy', 'Conflicting', 'Deleting'] as const;

/** Times in Kubernetes' format, to the second. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

export function accepted({ refusals }: SyncContext, { uid }: Resource, message: string): ConditionInput {
  const refusal = refusals.get(uid);
  return refusal
    ? condition('Accepted', false, refusal.reason, refusal.message)
    : condition('Accepted', true, 'InInventory', message);
}

/** The condition of a deletion that waits. */
export function deleting({ waiting }: SyncContext, { uid }: Resource): ConditionInput[] {
  const wait = waiting.get(uid);
  return wait ? [condition('Deleting', true, wait.reason, wait.message)] : [];
}
