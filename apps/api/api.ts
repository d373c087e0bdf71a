import type { Deps } from '../../functions/deps.ts';
import type { Route } from '../../shared/server/routes.ts';
import { readEnergy } from '../../shared/state/energy.ts';
import { createEnergyView } from '../../shared/view/energy.ts';
import { remoteView } from '../../shared/view/offers.ts';
import { pressureNow } from '../../shared/view/pressure.ts';
import { snapshotNow } from '../../shared/view/snapshot.ts';
import { watchSurroundings } from '../../shared/view/surroundings.ts';
import { openView } from '../../shared/view/view.ts';
import { apiRoutes } from './answer.ts';

/** A page is not held up by a cluster that is away; at first it is given a moment to connect. */
const patience = { firstMs: 2_000, laterMs: 300 };

/** What the console and the command line read: the store as it is, kept fresh by a watch. */
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
  const energy = createEnergyView(kWhPrice);
  view.onChange((kinds) => {
    try {
      if (kinds.has('machines')) energy.note(view.machines, clock.now());
    } catch {
      // A record that cannot be read: whoever looks is told, and the watch goes on.
    }
  });
  const surroundings = watchSurroundings(cluster, clock, patience);
  return {
    routes: apiRoutes({
      view,
      surroundings,
      now: () => clock.now(),
      energy: async () => energy.look(await readEnergy(store), view.machines(), clock.now()),
      pressure: () => pressureNow(store, clock.now()),
      remote: remoteView(store, () => clock.now()),
      snapshot: () => snapshotNow(deps),
    }),
    close: () => view.close(),
  };
}
