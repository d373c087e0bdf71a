import { join } from 'node:path';
import { eventually } from '../../tools/support/eventually.ts';
import { closing } from '../support/cleanup.ts';
import { lentToo, machinesOf, noPodForgotten, startRemoteWorld } from './remote-world.ts';

const namespace = 'remote';
const budget = 0.3;

test('one’s own rack first, then the cheaper neighbour, then the other; load gone, nothing is left', async () => {
  const world = closing(
    await startRemoteWorld({
      namespace,
      machines: [{ name: 'm-1', cpu: 4, memory: '16Gi', bootSeconds: 20, shutdownSeconds: 10, pool: 'rack' }],
      pool: { limits: { hourlyCost: budget } },
    }),
  );
  const { people } = world;
  const host = await world.startHost(`embedded:${join(world.files.folder, 'store.db')}`);
  const lent = async () =>
    (await people.running('web'))
      .map((node) => (node.startsWith('lent-') ? node.split('-')[1] : node))
      .sort();

  // Nobody counts on a machine whose BMC has not been read.
  await eventually(async () => {
    expect((await machinesOf(host)).map(({ power }) => power.state)).toEqual(['off']);
  }, 60_000);
  await people.deploy('web', 1, { cpu: '3', memory: '1Gi' }, lentToo);
  await eventually(async () => expect(await lent()).toEqual(['m-1']), 90_000);
  expect(world.slices()).toEqual([]);

  await people.scale('web', 3);
  await eventually(async () => expect(await lent()).toEqual(['cheap', 'cheap', 'm-1']), 90_000);
  expect(world.slices().every((slice) => slice.startsWith('cheap'))).toBe(true);

  await people.scale('web', 5);
  await eventually(
    async () => expect(await lent()).toEqual(['cheap', 'cheap', 'dear', 'dear', 'm-1']),
    90_000,
  );

  // A seventh would cost more than an hour may: it waits, and says so.
  await people.scale('web', 8);
  await noPodForgotten(world, namespace, 8);

  await people.scale('web', 0);
  await eventually(async () => {
    world.nothingLeft();
    expect(await people.nodes()).toEqual(['control-1']);
  }, 90_000);
  await eventually(async () => {
    expect((await machinesOf(host)).map(({ name }) => name)).toEqual(['m-1']);
  }, 60_000);
  expect(world.dearest()).toBeGreaterThan(0);
  expect(world.dearest()).toBeLessThanOrEqual(budget + 1e-9);
  expect(await host.stop()).toBe('0');
}, 400_000);
