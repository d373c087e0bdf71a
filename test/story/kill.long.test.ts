import { join } from 'node:path';
import { failpoints } from '../../shared/process/failpoints.ts';
import { playStory, startWorld, type World } from '../../tools/worlds/story.ts';

/** Every command of a kind repeated is harmless; the two kinds mixed up are not. */
function withoutRepeats(commands: readonly string[]): string[] {
  return commands.filter((command, index) => command !== commands[index - 1]);
}

async function playWithCrash(world: World, failpoint: string): Promise<string> {
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  const doomed = await world.startHost(store, { failpoint });
  let ended = '';
  const restarted = doomed.ended.then(async (signal) => {
    ended = signal;
    const next = await world.startHost(store);
    expect(next.url).not.toBe('');
  });
  await playStory(world);
  await restarted;
  return ended;
}

describe('killed at any step, the story goes on where it was', () => {
  // Named after the faults they show: 3 before the intent, 4 after it, 5 after the command, before the result.
  test.concurrent.each(failpoints)(
    'faults 3, 4, 5: SIGKILL at %s',
    async (failpoint) => {
      // Not by cleanup.ts: hooks after each test do not wait for tests that run beside each other.
      const world = await startWorld();
      try {
        expect(await playWithCrash(world, failpoint)).toBe('SIGKILL');
        for (const machine of ['m-1', 'm-2']) {
          const commands = world.commands(machine);
          expect(withoutRepeats(commands)).toEqual(['On', 'GracefulShutdown']);
          // At most the one whose fate was not known is sent again.
          expect(commands.length).toBeLessThanOrEqual(3);
        }
      } finally {
        await world.close();
      }
    },
    150_000,
  );
});
