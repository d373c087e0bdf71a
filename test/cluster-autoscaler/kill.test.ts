import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { providerFailpoints } from '../../shared/process/failpoints.ts';
import { eventually } from '../../tools/support/eventually.ts';
import type { Caller } from '../../tools/worlds/cluster-autoscaler-client.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';
import { startServingHost } from './serving-host.ts';

const config = {
  pools: [{ name: 'rack', managedBy: 'clusterAutoscaler' as const, scaleDown: { drainTimeout: '60s' } }],
};
const rack = { id: 'rack' };
const nodes = ['m-1', 'm-2'].map((name) => ({ name, providerID: `bamel://${name}` }));

const power = ({ lab }: World) => [...lab.machines.values()].map(({ machine }) => machine.powerState);

async function settled(world: World, caller: Caller, size: number, powers: readonly string[]): Promise<void> {
  await eventually(async () => {
    expect(await caller.size('rack')).toBe(size);
    expect(power(world)).toEqual(powers);
    expect((await world.people.nodes()).length).toBe(1 + size);
  }, 60_000);
}

describe('killed in the middle of a call, target and machines agree afterwards', () => {
  test.each(providerFailpoints)(
    'SIGKILL at %s',
    async (failpoint) => {
      const world = await startWorld({ config });
      let close = (): void => undefined;
      try {
        const store = `embedded:${join(world.files.folder, 'store.db')}`;
        const grows = failpoint.startsWith('grow');
        let { host, caller } = await startServingHost(world, store, { failpoint });
        const call = async (method: 'NodeGroupIncreaseSize' | 'NodeGroupDeleteNodes', request: object) => {
          // As the Cluster Autoscaler does: nothing is asked for before the BMCs have been looked at.
          await eventually(() => caller.call('Refresh'));
          const calling = caller.call(method, request);
          if (grows !== (method === 'NodeGroupIncreaseSize')) {
            await calling;
            return;
          }
          await expect(calling).rejects.toMatchObject({ code: status.UNAVAILABLE });
          expect(await host.ended).toBe('SIGKILL');
          caller.close();
          ({ host, caller } = await startServingHost(world, store));
        };
        close = () => caller.close();
        await call('NodeGroupIncreaseSize', { ...rack, delta: 2 });
        await settled(world, caller, 2, ['On', 'On']);
        await call('NodeGroupDeleteNodes', { ...rack, nodes });
        await settled(world, caller, 0, ['Off', 'Off']);
        for (const { name } of nodes) expect(world.commands(name)).toEqual(['On', 'GracefulShutdown']);
      } finally {
        close();
        await world.close();
      }
    },
    120_000,
  );
});
