import { startWorld } from '../../tools/worlds/story.ts';
import { playRecovery, recoveryWorld } from './recovery.ts';

test('a machine that hangs is power-cycled and serves again', async () => {
  await playRecovery(await startWorld(recoveryWorld));
}, 300_000);
