import { handsOn } from '../../../tools/real-stack/liqo/liqo-by-hand.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { lentPool, type RemoteWorld } from '../../../tools/worlds/remote-world.ts';
import { onStage, type Stage } from './remote-stage.ts';

const patience = 180_000;
const pools = [lentPool({ recovery: { policy: 'replace', notReadyFor: '5s' } })];
/** Gives its node up soon after it falls silent, not after five minutes. */
const quickToLeave = {
  tolerations: ['unreachable', 'not-ready'].map((why) => ({
    key: `node.kubernetes.io/${why}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 3,
  })),
};

const deploy = (stage: Stage): Promise<void> =>
  stage.people.deploy('web', 1, { cpu: '2', memory: '1Gi' }, quickToLeave);
const isAt = (stage: Stage, provider: string): Promise<void> =>
  eventually(async () => expect(await stage.where('web')).toEqual([provider]), patience);
const end = async (stage: Stage): Promise<void> => {
  await stage.people.scale('web', 0);
  await stage.everythingGivenBack();
};

/** The API server of the cheaper one stands still: it holds its connections and answers nothing. */
async function frozen(world: RemoteWorld, play: () => Promise<void>): Promise<void> {
  const { apiServer } = world.north.plane;
  apiServer.stop();
  try {
    await play();
  } finally {
    apiServer.cont();
  }
}

export const playLostComing = (world: RemoteWorld): Promise<void> =>
  onStage(world, { name: 'lost-coming', pools, budget: 2 }, async (stage) => {
    await frozen(world, async () => {
      await deploy(stage);
      await eventually(async () => expect((await stage.machines())[0]?.offer).toBe('north.spare'), 60_000);
      await isAt(stage, 'south');
      // What was asked of the silent one stays on the books: nobody knows what becomes of it.
      expect((await stage.machines()).map(({ offer }) => offer)).toContain('north.spare');
    });
    await end(stage);
  });

export const playLostServing = (world: RemoteWorld): Promise<void> =>
  onStage(world, { name: 'lost-serving', pools, budget: 2 }, async (stage) => {
    await deploy(stage);
    await isAt(stage, 'north');
    await frozen(world, async () => {
      await isAt(stage, 'south');
      const lost = (await stage.machines()).find(({ offer }) => offer === 'north.spare');
      expect(lost?.node.ready).toBe(false);
    });
    await end(stage);
  });

export const playLostLeaving = (world: RemoteWorld): Promise<void> =>
  onStage(
    world,
    {
      name: 'lost-leaving',
      pools: [lentPool({ scaleDown: { unneededFor: '10s', drainTimeout: '60s' } })],
      budget: 2,
    },
    async (stage) => {
      await deploy(stage);
      await isAt(stage, 'north');
      const [before] = await stage.machines();
      await stage.people.scale('web', 0);
      await eventually(async () => expect(await stage.nodesAt('north', 'web')).toEqual([]), 60_000);
      await frozen(world, async () => {
        await eventually(
          async () => expect((await stage.machines())[0]?.state).toMatch(/powering-off|error/),
          patience,
        );
        // It cannot be proven gone, so it is not; and it is told whose fault that is.
        await eventually(async () => {
          const [{ error, node, health } = {}] = await stage.machines();
          expect([error?.message, node?.problem, ...(health?.problems ?? [])].join()).toMatch(
            /(provider|lent by|slice of) north/,
          );
        }, patience);
        expect((await stage.machines()).map(({ name }) => name)).toEqual([before?.name]);
        expect(await world.slices('north')).toEqual([before?.name]);
      });
      await stage.everythingGivenBack();
    },
  );

/** The provider takes everything back, and our Node stays Ready as if nothing had happened. */
export const playDrained = (world: RemoteWorld): Promise<void> =>
  onStage(world, { name: 'drained', pools, budget: 2 }, async (stage) => {
    await deploy(stage);
    await isAt(stage, 'north');
    const provider = handsOn(world.north.plane.kubeConfig);
    const condition = (tenantCondition: string) =>
      provider.patch('authentication.liqo.io/v1beta1', 'Tenant', 'liqo-tenant-home', 'home', {
        tenantCondition,
      });
    await condition('Drained');
    try {
      await isAt(stage, 'south');
    } finally {
      await condition('Active');
    }
    await end(stage);
  });
