import { createKubeCluster } from '../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../shared/adapters/store/open-store.ts';
import type { Snapshot } from '../shared/core/decide/snapshot.ts';
import { realClock } from '../shared/process/clock.ts';
import { createLog } from '../shared/process/log.ts';
import { createInventory, type Inventory } from '../shared/state/inventory.ts';
import { snapshotNow } from '../shared/view/snapshot.ts';
import { type Io, storeUrl } from './command.ts';

export interface LookOptions {
  readonly store?: string | undefined;
  readonly kubeconfig?: string | undefined;
}

/** Gives a command the read-only input of a decision. */
export async function look<Value>(
  { store: url, kubeconfig }: LookOptions,
  io: Io,
  work: (inventory: Inventory, snapshot: () => Promise<Snapshot>) => Promise<Value>,
): Promise<Value> {
  const store = await openStore(storeUrl(url, io), { readOnly: true });
  const cluster = createKubeCluster({
    transport: kubeTransport({ kubeconfigFile: kubeconfig ?? io.env.KUBECONFIG }),
    clock: realClock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const inventory = createInventory(store, realClock);
  try {
    return await work(inventory, () => snapshotNow({ inventory, cluster, clock: realClock }));
  } finally {
    cluster.close();
    await store.close();
  }
}

export const lookUsage = `
      --store URL        default: $BAMEL_STORE
      --kubeconfig FILE  default: $KUBECONFIG, then ~/.kube/config`;

export const lookFlags = { store: { type: 'string' }, kubeconfig: { type: 'string' } } as const;
