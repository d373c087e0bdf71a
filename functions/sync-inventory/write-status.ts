import { mergePatchOf } from '../../shared/adapters/kubernetes/merge-patch.ts';
import type { Json, Resource } from '../../shared/ports/resources.ts';
import { forEachOf } from '../deps.ts';
import { autoscalerStatusOf, type LastDecision } from './autoscaler-status.ts';
import { isStored, type Known, latest, recordOf, unlessRefused, type World } from './known.ts';
import { nodeStatusOf } from './node-status.ts';
import { poolStatusOf } from './pool-status.ts';

/** How many resources are written to at once. */
const atOnce = 16;

/** Tells the resources what is known about them, where that is news. One that changed meanwhile is told next time. */
export async function writeStatuses(world: World, known: Known, last: LastDecision): Promise<number> {
  const byPool = Map.groupBy(known.records.values(), ({ spec }) => spec.pool);
  const members = (pool: Resource) => (isStored(pool, known) ? (byPool.get(pool.name) ?? []) : []);
  const wanted: [Resource, () => Json | Promise<Json>][] = [
    ...world.seen.node.map((node): [Resource, () => Json] => [
      node,
      () => nodeStatusOf(world, latest(world, node), recordOf(node, known)),
    ]),
    ...world.seen.pool.map((pool): [Resource, () => Promise<Json>] => [
      pool,
      () => poolStatusOf(world, latest(world, pool), members(pool), last.unmetOf(pool.name)),
    ]),
    ...world.seen.autoscaler.map((one): [Resource, () => Json] => [
      one,
      () => autoscalerStatusOf(world, known, latest(world, one), last),
    ]),
  ];
  let written = 0;
  await forEachOf(wanted, atOnce, async ([resource, status]) => {
    const current = latest(world, resource);
    // Without finalizers it is gone by now.
    if (current.deleting && current.finalizers.length === 0) return;
    const said = await status();
    if (!mergePatchOf(current.status, said)) return;
    if (!(await unlessRefused(world, current, () => world.resources.writeStatus(current, said)))) return;
    written += 1;
    world.deps.failpoint('sync-after-status');
  });
  return written;
}
