import { createKubeCluster } from '../shared/adapters/kubernetes/cluster.ts';
import { kubeTransport } from '../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../shared/adapters/store/open-store.ts';
import { ClusterError } from '../shared/ports/cluster.ts';
import type { Store } from '../shared/ports/store.ts';
import { realClock } from '../shared/process/clock.ts';
import { createLog } from '../shared/process/log.ts';
import { HttpError } from '../shared/server/http-response.ts';
import { readEnergy } from '../shared/state/energy.ts';
import { createInventory } from '../shared/state/inventory.ts';
import { energyView } from '../shared/view/energy.ts';
import { remoteView } from '../shared/view/offers.ts';
import { pressureNow } from '../shared/view/pressure.ts';
import { rows } from '../shared/view/rows.ts';
import { snapshotNow } from '../shared/view/snapshot.ts';
import { watchSurroundings } from '../shared/view/surroundings.ts';
import { createTrend } from '../shared/view/trend.ts';
import { openView } from '../shared/view/view.ts';
import { UsageError } from './command.ts';
import type { Source } from './source.ts';

/** The views that the host's API has, made from the store. A file of its own: most commands ask the host and never load it. */
export async function openStored(url: string, kubeconfig: string | undefined): Promise<Source> {
  const store = await openStore(url, { readOnly: true });
  const cluster = createKubeCluster({
    transport: kubeTransport({ kubeconfigFile: kubeconfig }),
    clock: realClock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const inventory = createInventory(store, realClock);
  const nowhere = async () => {
    throw new ClusterError('unavailable', 'no cluster is named');
  };
  const answer = async (path: string, name = ''): Promise<unknown> => {
    if (path === '/api/pods' && !kubeconfig)
      throw new UsageError('pods are in the cluster: give --kubeconfig, or ask the host with --server');
    // A cluster that was not named is contacted only if nothing can be shown without it.
    const surroundings = watchSurroundings(kubeconfig ? cluster : { view: nowhere }, realClock);
    const [view] = await Promise.all([openView(asOfNow(store), realClock), surroundings.refresh()]);
    const row = rows.find((one) => one.path === path);
    const now = () => realClock.now();
    return row?.answer({
      view,
      surroundings,
      now,
      use: surroundings.use(),
      name,
      may: 'act',
      energy: async () => energyView(await readEnergy(store), view.machines(), now(), undefined),
      trend: (range) => createTrend(store, view, surroundings, realClock).look(range),
      query: new URLSearchParams(),
      pressure: () => pressureNow(store, now()),
      remote: remoteView(store, now),
      snapshot: () => snapshotNow({ inventory, cluster, clock: realClock }),
    });
  };
  return {
    list: async (path) => (await answer(path)) as unknown[],
    async one(path, name) {
      try {
        return await answer(`${path}/{name}`, name);
      } catch (error) {
        if (error instanceof HttpError && error.answer.status === 404) return undefined;
        throw error;
      }
    },
    async close() {
      cluster.close();
      await store.close();
    },
  };
}

/** What the API keeps fresh by a watch, a command reads once. */
const asOfNow = (store: Store): Store => ({
  ...store,
  async watch(prefix, onChange) {
    onChange({ type: 'reset', ...(await store.list(prefix)) });
    return { close: async () => undefined };
  },
});
