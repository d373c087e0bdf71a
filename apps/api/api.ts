import type { Deps } from '../../functions/deps.ts';
import type { Route } from '../../shared/server/routes.ts';
import { readEnergy } from '../../shared/state/energy.ts';
import { energyView } from '../../shared/view/energy.ts';
import { remoteView } from '../../shared/view/offers.ts';
import { pressureNow } from '../../shared/view/pressure.ts';
import { snapshotNow } from '../../shared/view/snapshot.ts';
import { watchSurroundings } from '../../shared/view/surroundings.ts';
import { createTrend } from '../../shared/view/trend.ts';
import { openView } from '../../shared/view/view.ts';
import { apiRoutes } from './answer.ts';

/** A page is not held up by a cluster that is away; at first it is given a moment to connect. */
const patience = { firstMs: 2_000, laterMs: 300 };

/** The data for the console and the CLI: the store, kept up to date by a watch. */
export async function openApi(
  deps: Pick<Deps, 'inventory' | 'clock' | 'ownNode'> & { readonly cluster: Pick<Deps['cluster'], 'view'> },
  kWhPrice?: number,
): Promise<{
  readonly routes: readonly Route[];
  close(): Promise<void>;
}> {
  const { clock, cluster, inventory } = deps;
  const { store } = inventory;
  const view = await openView(store, clock);
  const surroundings = watchSurroundings(cluster, clock, patience);
  const trend = createTrend(store, view, surroundings, clock);
  view.onChange((kinds) => {
    try {
      if (kinds.has('machines')) trend.note();
    } catch {
      // A record that cannot be read: every answer says so, and the watch goes on.
    }
  });
  return {
    routes: apiRoutes({
      view,
      surroundings,
      now: () => clock.now(),
      energy: async () => energyView(await readEnergy(store), view.machines(), clock.now(), kWhPrice),
      trend: (range) => trend.look(range),
      pressure: () => pressureNow(store, clock.now()),
      remote: remoteView(store, () => clock.now()),
      snapshot: () => snapshotNow(deps),
    }),
    close: () => view.close(),
  };
}
