import { decode } from '../../shared/adapters/codec.ts';
import { keys } from '../../shared/adapters/keys.ts';
import { type Resource, refOf } from '../../shared/adapters/resources.ts';
import { capacityOf } from '../../shared/core/lifecycle.ts';
import type { Store } from '../../shared/ports.ts';
import type { AutoscalerStatus } from '../../shared/schema/resource-status.ts';
import { claimOn } from './claims.ts';
import { accepted, conditionsFor, deleting, said, timeText } from './conditions.ts';
import { type Known, recordOf, type World } from './world.ts';

/** What the last evaluation came to. */
export interface LastDecision {
  readonly unmetPods: number;
  readonly decision?: AutoscalerStatus['lastDecision'];
}

/** As much of what evaluations write as is shown. */
interface Stats {
  readonly lastEvaluation?: { readonly at: number; readonly decision: string; readonly summary: string };
}

export async function lastDecision(store: Store): Promise<LastDecision> {
  const entry = await store.get(keys.global('stats'));
  const { lastEvaluation } = entry ? decode<Stats>(entry.key, entry.value) : {};
  if (!lastEvaluation) return { unmetPods: 0 };
  const { decision: id, summary } = lastEvaluation;
  const record = await store.get(keys.decision(id));
  if (!record) return { unmetPods: 0 };
  const { at, unmet = [] } = decode<{ at: number; unmet?: readonly { pods?: number }[] }>(
    record.key,
    record.value,
  );
  return {
    unmetPods: unmet.reduce((sum, { pods = 1 }) => sum + pods, 0),
    decision: { id, at: timeText(at), summary },
  };
}

export function autoscalerStatusOf(
  world: World,
  known: Known,
  autoscaler: Resource,
  { unmetPods, decision }: LastDecision,
): AutoscalerStatus {
  const claims = world.seen.node.map((node) => ({ node, claim: claimOn(node, world.seen) }));
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
        accepted(world, autoscaler, 'its settings are in use'),
        contested.length > 0
          ? said(
              'Conflicting',
              true,
              'ClaimedTwice',
              `left alone, because another autoscaler selects them too: ${others.slice(0, 10).join(', ')}`,
            )
          : said('Conflicting', false, 'NoConflict', 'no other autoscaler selects its machines'),
        ...deleting(world, autoscaler),
      ],
      world.now,
    ),
  };
}
