import { keys } from '../../shared/state/keys.ts';
import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { freshNamespace } from '../../tools/worlds/cluster-client.ts';
import { fastClock } from '../contract/cluster-adapter-suite.ts';
import { closing } from '../support/cleanup.ts';
import { install } from '../sync-inventory/definitions.ts';
import { syncContract } from '../sync-inventory/sync-suite.ts';
import { machineSpec, startSyncWorld } from '../sync-inventory/sync-world.ts';

describeWith(controlPlanePrograms, 'sync-inventory', () => {
  syncContract('kube-apiserver', () => startControlPlane());

  describe('when the API server', () => {
    let plane: ControlPlane;
    beforeAll(async () => {
      plane = await startControlPlane();
      await install(plane.kubeConfig);
    }, 600_000);
    afterAll(() => plane?.close());

    test('is killed in the middle and started again, nothing is lost, and syncing goes on', async () => {
      const { kubeConfig, apiServer } = plane;
      const world = closing(
        await startSyncWorld(kubeConfig, await freshNamespace(kubeConfig), fastClock(10)),
      );
      await world.apply('BareMetalAutoscaler', 'home', {});
      await world.apply('NodePool', 'closet', {});
      for (const name of ['m-1', 'm-2']) await world.apply('BareMetalNode', name, machineSpec());
      const names = async () => (await world.inventory.machines()).map(({ spec }) => spec.name);
      await world.synced(async () => expect(await names()).toEqual(['m-1', 'm-2']));
      await world.observed('m-1', {
        state: 'ready',
        powerState: 'on',
        nodeReady: true,
        kubernetesNode: 'm-1',
      });
      await world.delete('BareMetalNode', 'm-2');
      const known = async () => (await world.store.list(`${keys.nodes}m-1/`)).entries;
      const before = await known();

      await apiServer.kill();
      await eventually(() => expect(world.sync()).rejects.toMatchObject({ code: 'unavailable' }));
      expect(await known()).toEqual(before);
      // Whether or not its deletion was seen: that it may be on could not be told to anybody yet.
      expect(await names()).toEqual(['m-1', 'm-2']);
      await apiServer.restart();

      await eventually(async () => {
        await world.sync();
        expect(await world.get('BareMetalNode', 'm-2')).toBeUndefined();
        expect((await world.get('BareMetalNode', 'm-1'))?.status).toMatchObject({ state: 'ready' });
      }, 60_000);
      expect(await names()).toEqual(['m-1']);
    });
  });
});
