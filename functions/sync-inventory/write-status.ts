import { mergePatchOf } from '../../shared/adapters/kubernetes/merge-patch.ts';
import type { Json, Resource } from '../../shared/ports/resources.ts';
import { forEachConcurrently } from '../../shared/process/concurrency.ts';
import { autoscalerStatusOf, type LastDecision } from './autoscaler-status.ts';
import { nodeStatusOf } from './node-status.ts';
import { poolStatusOf } from './pool-status.ts';
import {
  isStored,
  latest,
  recordOf,
  type StoreState,
  type SyncContext,
  writeOrRefuse,
} from './sync-context.ts';

/** Concurrency of writes. */
const atOnce = 16;

/** Writes changed statuses. A resource that changed meanwhile is written in the next sync. */
export async function writeStatuses(
  context: SyncContext,
  known: StoreState,
  last: LastDecision,
): Promise<number> {
  const byPool = Map.groupBy(known.records.values(), ({ spec }) => spec.pool);
  const members = (pool: Resource) => (isStored(pool, known) ? (byPool.get(pool.name) ?? []) : []);
  const wanted: [Resource, () => Json | Promise<Json>][] = [
    ...context.seen.node.map((node): [Resource, () => Json] => [
      node,
      () => nodeStatusOf(context, latest(context, node), recordOf(node, known)),
    ]),
    ...context.seen.pool.map((pool): [Resource, () => Promise<Json>] => [
      pool,
      () => poolStatusOf(context, latest(context, pool), members(pool), last.unmetOf(pool.name)),
    ]),
    ...context.seen.autoscaler.map((one): [Resource, () => Json] => [
      one,
      () => autoscalerStatusOf(context, known, latest(context, one), last),
    ]),
  ];
  let written = 0;
  await forEachConcurrently(wanted, atOnce, async ([resource, status]) => {
    const current = latest(context, resource);
    // Without finalizers it is already gone.
    if (current.deleting && current.finalizers.length === 0) return;
    const said = await status();
    if (!mergePatchOf(current.status, said)) return;
    if (!(await writeOrRefuse(context, current, () => context.resources.writeStatus(current, said)))) return;
    written += 1;
    context.deps.failpoint('sync-after-status');
  });
  return written;
}
