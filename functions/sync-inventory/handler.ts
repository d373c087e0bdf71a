import { z } from 'zod';
import { done, type Outcome, retryLater } from '../../shared/core/outcome.ts';
import { coalesce, skipFirst } from '../../shared/process/coalesce.ts';
import type { Handler } from '../../shared/server/function.ts';
import { writePoolMembers } from '../../shared/state/inventory-load.ts';
import { underLease } from '../../shared/state/leases.ts';
import type { Deps } from '../deps.ts';
import { type LastDecision, lastDecision } from './autoscaler-status.ts';
import { finalizeAll } from './finalize.ts';
import { importResources } from './import-resources.ts';
import { createConfigLoader } from './load-config.ts';
import { readStoreState, type StoreState, type SyncContext } from './sync-context.ts';
import { writeStatuses } from './write-status.ts';

export const SyncInput = z.strictObject({
  machine: z.string().optional().describe('what an event is about; everything is looked at anyway'),
});

/** Long enough for a large inventory; renewed, and released at the end. */
const leaseTtlMs = 15_000;
const patienceMs = 2_000;
/** Gather delay: resources are often changed together. */
const gatherMs = 50;

/**
 * Imports custom resources, a ConfigMap or the file into the store; writes statuses back; finalizes
 * deletions.
 */
export function syncInventory(deps: Deps): Handler<z.output<typeof SyncInput>> {
  const loadConfig = createConfigLoader(deps);
  let areMissing = false;
  const missing = (config: string): Outcome => {
    if (!areMissing)
      deps.log.info(
        { step: 'sync' },
        'no custom resources: their definitions are not installed in the cluster',
      );
    areMissing = true;
    return done({ config, resources: 'not installed' });
  };
  const sync = coalesce(
    skipFirst(() => deps.clock.sleep(gatherMs)),
    async (): Promise<Outcome> => {
      const config = await loadConfig();
      const { resources } = deps;
      const asked = resources?.all();
      // Awaited below, where errors are reported.
      asked?.catch(() => undefined);
      // Listed while the lease is acquired; a cluster without the resources needs no lease at every tick.
      if (!resources || (areMissing && !(await asked))) return missing(config);
      const result = await underLease(deps, 'sync', leaseTtlMs, { ms: patienceMs }, async (lease) => {
        const [seen, before, last] = await Promise.all([
          asked,
          readStoreState(deps),
          lastDecision(deps.inventory.store),
        ]);
        return seen ? syncResources(deps, { resources, seen, lease }, before, last) : 'missing';
      });
      if (result === 'missing') return missing(config);
      areMissing = false;
      return result ? done({ config, ...result }) : retryLater(1_000, 'another instance is syncing just now');
    },
  );
  return () => sync();
}

async function syncResources(
  deps: Deps,
  { resources, seen, lease }: Pick<SyncContext, 'resources' | 'seen' | 'lease'>,
  before: StoreState,
  last: LastDecision,
): Promise<{ resources: Record<string, number>; changed: number; written: number; waiting: number }> {
  const now = deps.clock.now();
  const context: SyncContext = {
    deps,
    resources,
    seen,
    lease,
    now,
    current: new Map(),
    refusals: new Map(),
    waiting: new Map(),
  };
  const changed = await importResources(context, before);
  if (changed > 0) deps.failpoint('sync-after-take-in');
  const touched = changed + (await finalizeAll(context)) > 0;
  if (touched) {
    await writePoolMembers(deps.inventory.store, lease.fence);
    deps.failpoint('sync-after-members');
  }
  const written = await writeStatuses(context, touched ? await readStoreState(deps) : before, last);
  const { autoscaler, pool, node } = seen;
  return {
    resources: { autoscalers: autoscaler.length, pools: pool.length, machines: node.length },
    changed,
    written,
    waiting: context.waiting.size,
  };
}
