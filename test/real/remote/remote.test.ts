import { liqoWorldPrograms } from '../../../tools/real-stack/liqo/liqo.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { type RemoteWorld, startRemoteWorld } from '../../../tools/worlds/remote-world.ts';
import { playAutoscaled } from './remote-autoscaler.ts';
import { playByHand } from './remote-by-hand.ts';
import { playKilled } from './remote-killed.ts';
import { playDrained, playLostComing, playLostLeaving, playLostServing } from './remote-lost.ts';
import { playBlocked, playBorrowing } from './remote-plays.ts';
import { playRefused } from './remote-refused.ts';

describeWith(
  [...liqoWorldPrograms, 'cluster-autoscaler'],
  'two clusters that lend, through real Liqo',
  () => {
    let world: RemoteWorld;
    beforeAll(async () => {
      world = await startRemoteWorld();
    }, 300_000);
    afterAll(() => world?.close(), 120_000);

    test.each([
      ['by hand: peered with, a slice asked for, a pod there, and given back', playByHand],
      ['the cheaper one first, then the other, then everything is given back', playBorrowing],
      ['a budget of disruption that blocks: the slice and its pod stay', playBlocked],
      ['the API server of a provider stands still during power-on', playLostComing],
      ['the API server of a provider stands still while its slice serves', playLostServing],
      ['the API server of a provider stands still during power-off', playLostLeaving],
      ['a provider drains its tenant', playDrained],
      ['our host is killed at every step', playKilled],
      ['the stock Cluster Autoscaler decides', playAutoscaled],
      ['who is unknown, forges or replays is refused; who signs is let in', playRefused],
    ])('%s', (_, play) => play(world), 600_000);
  },
);
