import { failpoints } from '../../../shared/process/failpoints.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { lentPool, type RemoteWorld } from '../../../tools/worlds/remote-world.ts';
import { onStage, type Stage } from './remote-stage.ts';

/** All but the one that only a node with pods passes: its pods are gone before it is to go. */
const everyStep = failpoints.filter((step) => step !== 'drain-after-eviction');
/** Up and down so often at most: a crash may carry the story past the next point. */
const cycles = 8;

/**
 * Up and down again, while the host is killed at one step after the other: each one that follows lives until the
 * next step on the list.
 */
export const playKilled = (world: RemoteWorld): Promise<void> =>
  onStage(
    world,
    { name: 'killed', pools: [lentPool()], budget: 1, host: { failpoint: everyStep[0] ?? '' } },
    async (stage) => {
      const died: string[] = [];
      const left = [...everyStep];
      const succession = succeed(stage, left, died);
      await stage.people.deploy('web', 0, { cpu: '2', memory: '1Gi' });
      await stage.offersKnown();
      for (let cycle = 0; cycle < cycles && left.length > 0; cycle += 1) {
        await stage.people.scale('web', 2);
        await eventually(async () => expect(await stage.where('web')).toEqual(['north', 'north']), 180_000);
        await stage.people.scale('web', 0);
        await stage.everythingGivenBack();
      }
      succession.stop();
      expect(left).toEqual([]);
      expect(died).toEqual(everyStep.map((step) => `SIGKILL at ${step}`));
    },
  );

/** Whenever the host ends, another one takes its place. */
function succeed(stage: Stage, left: string[], died: string[]): { stop(): void } {
  let stopped = false;
  const follow = async (): Promise<void> => {
    const signal = await stage.host.ended;
    if (stopped) return;
    died.push(`${signal} at ${left.shift()}`);
    const [failpoint] = left;
    await stage.start(failpoint === undefined ? {} : { failpoint });
    if (!stopped) await follow();
  };
  void follow();
  return {
    stop: () => {
      stopped = true;
    },
  };
}
