import type { DecisionRecord } from '../../shared/core/decide/decision.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import { type Resource, refOf } from '../../shared/ports/resources.ts';
import type { Store } from '../../shared/ports/store.ts';
import type { AutoscalerStatus } from '../../shared/schema/resource-status.ts';
import { decode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { claimOn } from './claims.ts';
import { accepted, condition, conditionsFor, deleting, timeText } from './conditions.ts';
import { recordOf, type StoreState, type SyncContext } from './sync-context.ts';

/** The result of the last evaluation. */
export interface LastDecision {
  readonly unmetPods: number;
  /** Unmet pods that the pool could serve in principle. */
  unmetOf(pool: string): number;
  readonly decision?: AutoscalerStatus['lastDecision'];
}

/** The part of the stored statistics that is shown. */
interface Stats {
  readonly lastEvaluation?: { readonly at: number; readonly decision: string; readonly summary: string };
}

const none: LastDecision = { unmetPods: 0, unmetOf: () => 0 };

export async function lastDecision(store: Store): Promise<LastDecision> {
  const entry = await store.get(keys.global('stats'));
  const { lastEvaluation } = entry ? decode<Stats>(entry.key, entry.value) : {};
  if (!lastEvaluation) return none;
  const { decision: id, summary } = lastEvaluation;
  const record = await store.get(keys.decision(id));
  if (!record) return none;
  const { at, unmet = [] } = decode<Pick<DecisionRecord, 'at'> & Partial<Pick<DecisionRecord, 'unmet'>>>(
    record.key,
    record.value,
  );
  const count = (some: typeof unmet): number => some.reduce((sum, { pods }) => sum + pods, 0);
  return {
    unmetPods: count(unmet),
    unmetOf: (pool) => count(unmet.filter(({ pools }) => pools?.includes(pool) ?? true)),
    decision: { id, at: timeText(at), summary },
  };
}

export function autoscalerStatusOf(
  context: SyncContext,
  known: StoreState,
  autoscaler: Resource,
  { unmetPods, decision }: LastDecision,
): AutoscalerStatus {
  const claims = context.seen.node.map((node) => ({ node, claim: claimOn(node, context.seen) }));
  const bound = claims.filter(({ claim }) => claim.kind === 'bound' && claim.by.uid === autoscaler.uid);
  const contested = claims.flatMap(({ node, claim }) =>
    claim.kind === 'several' && claim.by.some(({ uid }) => uid === autoscaler.uid) ? [{ node, claim }] : [],
  );
  const others = contested.map(({ node, claim }) => {
    const rivals = claim.by.filter(({ uid }) => uid !== autoscaler.uid).map(refOf);
    return `${node.name} (also ${rivals.join(', ')})`;
  });
  const serving = bound.filter(({ node }) => {
    const record = recordOf(node, known);
    return record && capacityOf(record) === 'serving';
  });
  return {
    observedGeneration: autoscaler.generation,
    machines: bound.length,
    readyNodes: serving.length,
    unmetPods,
    lastDecision: decision,
    conditions: conditionsFor(
      autoscaler,
      [
        accepted(context, autoscaler, 'its settings are in use'),
        contested.length > 0
          ? condition(
              'Conflicting',
              true,
              'ClaimedTwice',
              `left alone, because another autoscaler selects them too: ${others.slice(0, 10).join(', ')}`,
            )
          : condition('Conflicting', false, 'NoConflict', 'no other autoscaler selects its machines'),
        ...deleting(context, autoscaler),
      ],
      context.now,
    ),
  };
}
