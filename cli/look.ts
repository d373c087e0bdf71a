import { readAlerts } from '../shared/adapters/alerts.ts';
import { createInventory, type Inventory } from '../shared/adapters/inventory.ts';
import { lazyCluster } from '../shared/adapters/kube-lazy.ts';
import { openStore } from '../shared/adapters/store.ts';
import { alertReadings } from '../shared/core/alert-book.ts';
import type { Snapshot } from '../shared/core/snapshot.ts';
import { realClock } from '../shared/runtime/clock.ts';
import { createLog } from '../shared/runtime/log.ts';
import { type Io, storeUrl } from './command.ts';

export interface LookOptions {
  readonly store?: string | undefined;
  readonly kubeconfig?: string | undefined;
}

/** Gives a command what a decision would look at, and nothing to change it with. */
export async function look<Value>(
  { store: url, kubeconfig }: LookOptions,
  io: Io,
  work: (inventory: Inventory, snapshot: () => Promise<Snapshot>) => Promise<Value>,
): Promise<Value> {
  const store = await openStore(storeUrl(url, io), { readOnly: true });
  const cluster = lazyCluster({
    kubeconfigFile: kubeconfig ?? io.env.KUBECONFIG,
    clock: realClock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const inventory = createInventory(store, realClock);
  try {
    return await work(inventory, async () => {
      const [machines, pools, settings, view, book] = await Promise.all([
        inventory.machines(),
        inventory.pools(),
        inventory.settings(),
        cluster.view(),
        readAlerts(store),
      ]);
      const alerts = alertReadings(book, realClock.now());
      return { machines, pools, settings, cluster: view, alerts };
    });
  } finally {
    cluster.close();
    await store.close();
  }
}

export const lookUsage = `
      --store URL        default: $BAMEL_STORE
      --kubeconfig FILE  default: $KUBECONFIG, then ~/.kube/config`;

export const lookFlags = { store: { type: 'string' }, kubeconfig: { type: 'string' } } as const;
