import { type ControlPlane, startControlPlane } from '../../tools/real-stack/control-plane.ts';
import { type Etcd, startEtcd } from '../../tools/real-stack/etcd.ts';
import { controlPlanePrograms } from '../../tools/real-stack/table.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { playStory, readInventory, startWorld } from '../../tools/worlds/story.ts';
import { playRecovery, recoveryWorld } from '../story/recovery.ts';
import { closing } from '../support/cleanup.ts';

describeWith(controlPlanePrograms, 'on etcd, kube-apiserver, kube-scheduler and kwok', () => {
  let plane: ControlPlane;
  let inventory: Etcd;
  beforeAll(async () => {
    [plane, inventory] = await Promise.all([startControlPlane(), startEtcd()]);
  });
  afterAll(() => Promise.all([plane?.close(), inventory?.close()]));

  test('the story: etcd and a real control plane', async () => {
    const kubeconfig = plane.kubeConfig.exportConfig();
    const world = closing(await startWorld({ kubeconfig, registrar: 'kwok' }));
    const store = `etcd://${inventory.endpoints.map((endpoint) => new URL(endpoint).host).join(',')}`;
    const host = await world.startHost(store);
    await playStory(world);
    expect(await host.stop()).toBe('0');
    for (const machine of ['m-1', 'm-2']) expect(world.commands(machine)).toEqual(['On', 'GracefulShutdown']);
    const ends = await readInventory(store, async ({ store }) =>
      (await store.list('/baremetal/operations/')).entries.map(({ value }) => JSON.parse(value).end),
    );
    expect(ends).toEqual(['done', 'done', 'done', 'done']);
  });

  test('a machine that hangs is power-cycled and serves again: a real control plane and kwok', async () => {
    const kubeconfig = plane.kubeConfig.exportConfig();
    await playRecovery(await startWorld({ ...recoveryWorld, kubeconfig, registrar: 'kwok' }));
  });
});
