import { KubeConfig } from '@kubernetes/client-node';
import { keys } from '../../shared/state/keys.ts';
import { startApi } from '../../simulator/lab/api/index.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { fastClock } from '../contract/cluster-adapter-suite.ts';
import { install } from './definitions.ts';
import { machineSpec, type SyncWorld, startSyncWorld } from './sync-world.ts';

/** An API server that can be put in another's place. */
async function serve(port = 0) {
  const api = await startApi({ port });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(api.kubeconfig());
  return {
    kubeConfig,
    port: Number(new URL(kubeConfig.getCurrentCluster()?.server ?? '').port),
    close: () => api.close(),
  };
}

const described = async (world: SyncWorld) =>
  (await world.store.list(keys.nodes)).entries
    .filter(({ key }) => key.endsWith('/spec'))
    .map(({ value }) => value);

test('without our kinds nothing is done; once they are installed, syncing begins', async () => {
  const api = await serve();
  const world = await startSyncWorld(api.kubeConfig, 'default', fastClock(100));
  try {
    expect(await world.sync()).toMatchObject({ kind: 'done', answer: { resources: 'not installed' } });
    await install(api.kubeConfig);
    await world.apply('NodePool', 'closet', {});
    await world.synced(async () => expect(await world.inventory.pools()).toHaveLength(1));
  } finally {
    await world.close();
    await api.close();
  }
});

test('a cluster that goes away, comes back empty, or loses our kinds takes no machine with it', async () => {
  let api = await serve();
  const world = await startSyncWorld(api.kubeConfig, 'default', fastClock(20));
  try {
    await install(api.kubeConfig);
    await world.apply('BareMetalAutoscaler', 'home', {});
    await world.apply('NodePool', 'closet', {});
    for (const name of ['m-1', 'm-2']) await world.apply('BareMetalNode', name, machineSpec());
    await world.synced(async () => expect(await described(world)).toHaveLength(2));
    await world.sync();
    const before = await described(world);

    await api.close();
    await eventually(() => expect(world.sync()).rejects.toMatchObject({ code: 'unavailable' }));
    expect(await described(world)).toEqual(before);

    api = await serve(api.port);
    await world.synced(async () =>
      expect(await world.sync()).toMatchObject({ answer: { resources: 'not installed' } }),
    );
    expect(await described(world)).toEqual(before);

    await install(api.kubeConfig);
    await world.synced(async () =>
      expect(await world.sync()).toMatchObject({ answer: { resources: { machines: 0 } } }),
    );
    expect(await described(world)).toEqual(before);

    // Described again, a machine is the one it was.
    await world.observed('m-1', { state: 'ready', powerState: 'on' });
    await world.apply('BareMetalAutoscaler', 'home', {});
    await world.apply('NodePool', 'closet', {});
    await world.apply('BareMetalNode', 'm-1', machineSpec('closet', { rack: 'r-2' }));
    await world.synced(async () =>
      expect(await world.inventory.machine('m-1')).toMatchObject({
        spec: { rack: 'r-2' },
        status: { state: 'ready' },
      }),
    );
  } finally {
    await world.close();
    await api.close();
  }
});
