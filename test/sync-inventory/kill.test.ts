import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { syncFailpoints } from '../../shared/process/failpoints.ts';
import { labConfig } from '../../simulator/lab/config.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { startHostProcess } from '../../tools/support/host-process.ts';
import { send } from '../../tools/worlds/cluster-client.ts';
import { readInventory, startWorld, type World } from '../../tools/worlds/story.ts';
import { apply, install, pathOf } from './definitions.ts';

const all = [
  ['BareMetalAutoscaler', 'home'],
  ['NodePool', 'rack'],
  ['BareMetalNode', 'm-1'],
] as const;

interface Shown {
  readonly state?: string;
  readonly powerState?: string;
  readonly machines?: number;
}

/** Resources come, are told about, are deleted with their machine powered off, and go. */
async function playResources(world: World, kubeConfig: KubeConfig): Promise<void> {
  const {
    autoscaler,
    pools = [],
    machines = [],
  } = labConfig(world.lab.inventory(), {
    pools: [{ name: 'rack' }],
  });
  const specs: Record<string, object | undefined> = {
    home: { ...autoscaler, deletionPolicy: 'power-off' },
    rack: pools[0],
    'm-1': machines[0],
  };
  const shown = async (kind: string, name: string): Promise<Shown | 'gone'> => {
    const { code, body } = await send(kubeConfig, 'GET', pathOf('default', kind, name));
    return code === 404 ? 'gone' : ((body as { status?: Shown }).status ?? {});
  };
  for (const [kind, name] of all) {
    const { name: _, ...spec } = { name, ...specs[name] };
    const body = { apiVersion: 'bamel.dev/v1alpha1', kind, metadata: { name }, spec };
    expect((await apply(kubeConfig, pathOf('default', kind, name), body)).code).toBe(201);
  }
  await eventually(
    async () =>
      expect(await shown('BareMetalNode', 'm-1')).toMatchObject({ state: 'ready', powerState: 'on' }),
    120_000,
  );
  await eventually(
    async () => expect(await shown('NodePool', 'rack')).toMatchObject({ machines: 1 }),
    120_000,
  );
  for (const [kind, name] of all) await send(kubeConfig, 'DELETE', pathOf('default', kind, name));
  for (const [kind, name] of all)
    await eventually(async () => expect(await shown(kind, name)).toBe('gone'), 120_000);
}

describe('killed at any step of syncing, it goes on where it was', () => {
  test.concurrent.each(syncFailpoints)(
    'SIGKILL at %s',
    async (failpoint) => {
      const world = await startWorld({
        machines: [{ name: 'm-1', cpu: 4, memory: '16Gi', bootSeconds: 1, shutdownSeconds: 1, pool: 'rack' }],
      });
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(() => world.close());
      const kubeConfig = new KubeConfig();
      kubeConfig.loadFromString(world.lab.kubeconfig);
      await install(kubeConfig);
      world.lab.machines.get('m-1')?.machine.startBooted();
      const store = `embedded:${join(world.files.folder, 'store.db')}`;
      const start = async (options = {}) => {
        const host = await startHostProcess({ ...world.files, config: 'resources:' }, store, options);
        cleanup.defer(async () => {
          host.kill('SIGKILL');
          await host.ended;
        });
        return host;
      };
      const doomed = await start({ failpoint });
      const next = doomed.ended.then(() => start());
      await playResources(world, kubeConfig);
      expect(await doomed.ended).toBe('SIGKILL');
      await (await next).stop();
      // Powered off once, in good order, and nothing of it is left anywhere.
      expect(world.commands('m-1')).toEqual(['GracefulShutdown']);
      await readInventory(store, async (inventory) => {
        expect(await inventory.machines()).toEqual([]);
        expect(await inventory.pools()).toEqual([]);
        expect(await inventory.store.get('/baremetal/global/source')).toBeUndefined();
      });
    },
    300_000,
  );
});
