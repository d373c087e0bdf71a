import { join } from 'node:path';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { MachineView } from '../../shared/view/shapes.ts';
import { eventually } from '../../tools/support/eventually.ts';
import type { HostProcess } from '../../tools/support/host-process.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';
import { type BuiltBamel, buildBamel, type Ran } from './run-bamel.ts';

/** One machine that serves a pod, one that is off, and a pod that nothing can run; the command as it is shipped. */
export interface Scene {
  readonly bamel: BuiltBamel;
  readonly world: World;
  readonly host: HostProcess;
  readonly store: string;
  /** Asks the host. */
  run(...args: readonly string[]): Promise<Ran>;
  /** A budget that never gives way. */
  protect(app: string): Promise<void>;
  cordon(node: string): Promise<void>;
  close(): Promise<void>;
}

export async function startScene(): Promise<Scene> {
  const bamel = await buildBamel();
  const world = await startWorld({
    config: { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h', drainTimeout: '10m' } }] },
  });
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  const host = await world.startHost(store);
  // Before every BMC has answered, m-2 may be all that is known to be off.
  await eventually(async () => {
    const { items } = (await (await fetch(`${host.url}/api/machines`)).json()) as { items: MachineView[] };
    expect(items.map(({ power }) => power.state)).toEqual(['off', 'off']);
  }, 60_000);
  await world.people.deploy('web', 1, { cpu: '2', memory: '4Gi' });
  await eventually(async () => expect(await world.people.running('web')).toHaveLength(1), 90_000);
  await world.people.deploy('giant', 1, { cpu: '64' });
  return {
    bamel,
    world,
    host,
    store,
    run: (...args) => bamel.run(args, { BAMEL_URL: host.url }),
    protect: (app) => world.people.protect(app),
    async cordon(name) {
      const body = { spec: { unschedulable: true } };
      await world.people.core.patchNode(
        { name, body },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
    },
    async close() {
      await world.close();
      await bamel.remove();
    },
  };
}
