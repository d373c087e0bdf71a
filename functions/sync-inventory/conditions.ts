import type { Resource } from '../../shared/ports/resources.ts';
import type { Condition } from '../../shared/schema/resource-status.ts';
import type { World } from './known.ts';

export type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const said = (type: string, holds: boolean | undefined, reason: string, message: string): Said => ({
  type,
  status: holds === undefined ? 'Unknown' : holds ? 'True' : 'False',
  reason,
  message,
});

/** Our conditions, others' kept; lastTransitionTime moves only when a status does. */
export function conditionsFor(resource: Resource, ours: readonly Said[], now: number): Condition[] {
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

/** All that we set: one that no longer applies is removed. */
const conditionTypes = ['Accepted', 'Operated', 'Ready', 'Healthy', 'Conflicting', 'Deleting'] as const;

/** As Kubernetes writes times: to the second. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

export function accepted({ refusals }: World, { uid }: Resource, message: string): Said {
  const refusal = refusals.get(uid);
  return refusal
    ? said('Accepted', false, refusal.reason, refusal.message)
    : said('Accepted', true, 'InInventory', message);
}

/** A deletion that waits says for what. */
export function deleting({ waiting }: World, { uid }: Resource): Said[] {
  const wait = waiting.get(uid);
  return wait ? [said('Deleting', true, wait.reason, wait.message)] : [];
}
