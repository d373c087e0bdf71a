import { z } from 'zod';
import { done, retryLater } from '../../shared/core/outcome.ts';
import type { Remote } from '../../shared/core/remote/remote-settings.ts';
import type { Handler } from '../../shared/server/function.ts';
import { readDiscovery } from '../../shared/state/discovery-state.ts';
import { underLease } from '../../shared/state/leases.ts';
import type { Deps } from '../deps.ts';
import { pruneExpired, refresh } from './refresh.ts';

export { discoveryRoutes } from './routes.ts';

export const DiscoveryInput = z.strictObject({
  machine: z.string().optional().describe('what an event is about; everything is looked at anyway'),
});

const leaseTtlMs = 15_000;
const patienceMs = 1_000;

/**
 * Publishes our offers, reads the offers of others and deletes expired ones. Called by hand it refreshes at
 * once.
 */
export function discovery(deps: Deps): Handler<z.output<typeof DiscoveryInput>> {
  return async (_, { signal, trigger }) => {
    const { remote } = await deps.inventory.settings();
    if (await isIdle(deps, remote)) return done({ offers: await pruneExpired(deps, remote) });
    const result = await underLease(
      deps,
      'discovery',
      leaseTtlMs,
      { ms: patienceMs, signal },
      async (lease) => {
        const until = AbortSignal.any([signal, lease.lost]);
        const refreshed = await refresh(deps, remote, lease, until, trigger === 'by-hand');
        return { ...refreshed, offers: await pruneExpired(deps, remote) };
      },
    );
    return result ? done(result) : retryLater(1_000, 'another instance is looking just now');
  };
}

/** Without remote clusters there is nothing to refresh. */
async function isIdle({ inventory }: Deps, { sources, offers }: Remote): Promise<boolean> {
  if (sources.length + offers.length > 0) return false;
  return (await readDiscovery(inventory.store)).published.length === 0;
}
