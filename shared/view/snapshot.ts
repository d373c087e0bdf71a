import { alertReadings } from '../core/decide/signals/alert-book.ts';
import type { Snapshot } from '../core/decide/snapshot.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import { readAlerts } from '../state/alerts.ts';
import type { Inventory } from '../state/inventory.ts';
import { readOffers } from '../state/offers.ts';
import { readPressure } from '../state/pressure.ts';
import { readProviders } from '../state/providers.ts';

/**
 * The current input of a decision, for explanations. Triggers are left out: they are queried only for
 * decisions.
 */
export async function snapshotNow({
  inventory,
  cluster,
  clock,
  ownNode,
}: {
  readonly inventory: Inventory;
  readonly cluster: Pick<Cluster, 'view'>;
  readonly clock: Clock;
  readonly ownNode?: string | undefined;
}): Promise<Snapshot> {
  const now = clock.now();
  const [machines, pools, settings, view, book, pressure, offers, providers] = await Promise.all([
    inventory.machines(),
    inventory.pools(),
    inventory.settings(),
    cluster.view(),
    readAlerts(inventory.store),
    readPressure(inventory.store, now),
    readOffers(inventory.store),
    readProviders(inventory.store),
  ]);
  return {
    machines,
    pools,
    settings,
    cluster: view,
    alerts: alertReadings(book, now),
    pressure,
    offers,
    providers,
    ownNode,
  };
}
