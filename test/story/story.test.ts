import { join } from 'node:path';
import { playStory, readInventory, startWorld } from '../../tools/worlds/story.ts';
import { closing } from '../support/cleanup.ts';

test('the story: embedded store and lab', async () => {
  const world = closing(await startWorld());
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  const host = await world.startHost(store);
  await playStory(world);
  expect(await host.stop()).toBe('0');

  for (const machine of ['m-1', 'm-2']) expect(world.commands(machine)).toEqual(['On', 'GracefulShutdown']);
  const operations = await readInventory(store, async (inventory) =>
    (await inventory.store.list('/baremetal/operations/')).entries.map(({ value }) => JSON.parse(value)),
  );
  expect(operations.map(({ machine, goal, end }) => `${machine} ${goal} ${end}`).sort()).toEqual([
    'm-1 off done',
    'm-1 on done',
    'm-2 off done',
    'm-2 on done',
  ]);
}, 120_000);
