import { readEnergy } from '../../shared/adapters/energy.ts';
import type { Route } from '../../shared/runtime/routes.ts';
import type { Deps } from '../deps.ts';
import { createEnergyView } from './energy.ts';
import { pressureNow } from './pressure.ts';
import { apiRoutes } from './routes.ts';
import { watchSurroundings } from './surroundings.ts';
import { openView } from './view.ts';

/** What the console and the command line read: the store as it is, kept fresh by a watch. */
export async function openApi(
  { inventory: { store }, cluster, clock }: Pick<Deps, 'inventory' | 'cluster' | 'clock'>,
  kWhPrice?: number,
): Promise<{
  readonly routes: readonly Route[];
  close(): Promise<void>;
}> {
  const view = await openView(store, clock);
  const energy = createEnergyView(kWhPrice);
  const surroundings = watchSurroundings(cluster, clock);
  return {
    routes: apiRoutes({
      view,
      surroundings,
      now: () => clock.now(),
      energy: async () => energy(await readEnergy(store), view.machines(), clock.now()),
      pressure: () => pressureNow(store, clock.now()),
    }),
    close: () => view.close(),
  };
}
