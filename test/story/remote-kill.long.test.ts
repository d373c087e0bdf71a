import { join } from 'node:path';
import { eventually } from '../../tools/support/eventually.ts';
import type { HostProcess } from '../../tools/support/host-process.ts';
import { closing } from '../support/cleanup.ts';
import { lentToo, machinesOf, noPodForgotten, startRemoteWorld } from './remote-world.ts';

const namespace = 'killed';
const budget = 0.13;

/** Where a crash matters to a slice: its record, the slice, its node, and the way back. */
const places = [
  'evaluate-after-intent-on',
  'power-before-command-on',
  'power-after-command-on',
  'power-before-result-on',
  'join-after-node',
  'drain-after-cordon',
  'power-before-command-soft-off',
  'power-after-command-soft-off',
  'power-before-result-off',
] as const;

test('killed at any step, every slice is given back, and an hour costs no more than it may', async () => {
  const world = closing(await startRemoteWorld({ namespace, pool: { limits: { hourlyCost: budget } } }));
  const { people } = world;
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  const ends: string[] = [];
  let host: HostProcess | undefined;
  /** As soon as one is dead the next one begins, and dies at the next place; the last one lives. */
  const reign = async (): Promise<void> => {
    for (const failpoint of places) {
      host = await world.startHost(store, { failpoint, logLevel: 'info' });
      ends.push(await host.ended);
    }
    host = await world.startHost(store, { logLevel: 'info' });
  };
  const reigns = reign();
  await people.deploy('web', 0, { cpu: '3', memory: '1Gi' }, lentToo);
  // Every round passes all places once; a host whose place was passed just before it came needs another.
  for (let round = 0; round < 2 * places.length && ends.length < places.length; round += 1) {
    await people.scale('web', 1);
    await eventually(async () => expect(await people.running('web')).toHaveLength(1), 120_000);
    await noPodForgotten(world, namespace, 1);
    await people.scale('web', 0);
    await eventually(() => world.nothingLeft(), 120_000);
  }
  await reigns;
  expect(ends).toEqual(places.map(() => 'SIGKILL'));
  await eventually(async () => {
    world.nothingLeft();
    expect(host && (await machinesOf(host))).toEqual([]);
    expect(await people.nodes()).toEqual(['control-1']);
  }, 120_000);
  expect(world.dearest()).toBeGreaterThan(0);
  expect(world.dearest()).toBeLessThanOrEqual(budget + 1e-9);
  expect(await host?.stop()).toBe('0');
}, 600_000);
