import { z } from 'zod';
import { writeMembers } from '../../shared/adapters/inventory-load.ts';
import type { AllResources, Resources } from '../../shared/adapters/resources.ts';
import { done, type Outcome, retryLater } from '../../shared/core/outcome.ts';
import type { Lease } from '../../shared/ports.ts';
import type { Handler } from '../../shared/runtime/function.ts';
import { type Deps, underLease } from '../deps.ts';
import { afterTheFirst, coalesce } from '../evaluate-scaling/coalesce.ts';
import { letGo } from './let-go.ts';
import { createConfigLoader } from './load-config.ts';
import { takeIn } from './take-in.ts';
import { readKnown, type World } from './world.ts';
import { writeStatuses } from './write-status.ts';

export const SyncInput = z.strictObject({
  machine: z.string().optional().describe('what an event is about; everything is looked at anyway'),
});

/** Long enough for a large inventory; it is kept alive, and given back at the end. */
const leaseTtlMs = 15_000;
const patienceMs = 2_000;
/** Resources are mostly changed several at a time. */
const gatherMs = 50;

/** Custom resources, a ConfigMap or the file into the store; what is known back to the resources; deletions. */
export function syncInventory(deps: Deps): Handler<z.output<typeof SyncInput>> {
  const loadConfig = createConfigLoader(deps);
  let toldMissing = false;
  const sync = coalesce(
    afterTheFirst(() => deps.clock.sleep(gatherMs)),
    async (): Promise<Outcome> => {
      const config = await loadConfig();
      const { resources } = deps;
      const seen = await resources?.all();
      if (!resources || !seen) {
        if (!toldMissing)
          deps.log.info(
            { step: 'sync' },
            'no custom resources: their definitions are not installed in the cluster',
          );
        toldMissing = true;
        return done({ config, resources: 'not installed' });
      }
      const result = await underLease(deps, 'sync', leaseTtlMs, { ms: patienceMs }, (lease) =>
        syncResources(deps, resources, seen, lease),
      );
      return result ? done({ config, ...result }) : retryLater(1_000, 'another instance is syncing just now');
    },
  );
  return () => sync();
}

async function syncResources(
  deps: Deps,
  resources: Resources,
  seen: AllResources,
  lease: Lease,
): Promise<{ resources: Record<string, number>; changed: number; written: number; waiting: number }> {
  const now = deps.clock.now();
  const world: World = {
    deps,
    resources,
    seen,
    lease,
    now,
    current: new Map(),
    refusals: new Map(),
    waiting: new Map(),
  };
  const before = await readKnown(world);
  const changed = await takeIn(world, before);
  if (changed > 0) deps.failpoint('sync-after-take-in');
  const touched = changed + (await letGo(world)) > 0;
  if (touched) {
    await writeMembers(deps.inventory.store, lease.fence);
    deps.failpoint('sync-after-members');
  }
  const written = await writeStatuses(world, touched ? await readKnown(world) : before);
  const { autoscaler, pool, node } = seen;
  return {
    resources: { autoscalers: autoscaler.length, pools: pool.length, machines: node.length },
    changed,
    written,
    waiting: world.waiting.size,
  };
}
