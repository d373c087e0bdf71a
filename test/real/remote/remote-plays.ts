import { PolicyV1Api } from '@kubernetes/client-node';
import { textOf } from '../../../shared/core/reasons/reason.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { lentPool, type RemoteWorld } from '../../../tools/worlds/remote-world.ts';
import { onStage } from './remote-stage.ts';

/** The cheaper one first, the other one for the rest, and everything is given back. */
export const playBorrowing = (world: RemoteWorld): Promise<void> =>
  onStage(
    world,
    { name: 'borrow', pools: [lentPool({ limits: { hourlyCost: 1.6 } })], budget: 1.6 },
    async (stage) => {
      const { people } = stage;
      await people.deploy('web', 3, { cpu: '2', memory: '1Gi' });
      await eventually(
        async () => expect(await stage.where('web')).toEqual(['north', 'north', 'north']),
        120_000,
      );
      expect(await stage.nodesAt('north', 'web')).toEqual(['north-1', 'north-1', 'north-1']);
      const [first] = await stage.machines();
      expect(first).toMatchObject({ offer: 'north.spare', state: 'ready', made: true });
      expect(first?.hourlyRate).toBeCloseTo(0.6);
      const decisions = `${stage.host.url}/api/decisions`;
      const { items } = (await (await fetch(decisions)).json()) as {
        items: { id: string; powerOn: string[] }[];
      };
      const decided = items.find(({ powerOn }) => powerOn.length > 0);
      expect(await (await fetch(`${decisions}/${decided?.id}`)).text()).toContain(
        textOf({ code: 'more-expensive', offer: 'north.spare' }),
      );
      const node = await people.core.readNode({ name: first?.name ?? '' });
      expect(node.spec?.providerID).toBe(`liqo://north/${first?.name}`);

      await people.scale('web', 6);
      await eventually(
        async () =>
          expect(await stage.where('web')).toEqual(['north', 'north', 'north', 'north', 'south', 'south']),
        120_000,
      );
      expect(await stage.nodesAt('south', 'web')).toEqual(['south-1', 'south-1']);
      const paid = (await stage.machines()).reduce((sum, { hourlyRate = 0 }) => sum + hourlyRate, 0);
      expect(paid).toBeCloseTo(8 * 0.1 + 4 * 0.2);

      // The south has room for it, but nobody pays for it.
      await people.scale('web', 7);
      await eventually(async () => {
        const answer = await fetch(`${stage.host.url}/api/pods`);
        expect(await answer.text()).toMatch(/budget of 1\.6 per hour/);
      }, 60_000);
      expect(await stage.where('web')).toHaveLength(6);

      await people.scale('web', 0);
      await stage.everythingGivenBack();
    },
  );

/** A budget of disruption that allows nothing: the slice stays, its pod runs on, until it may go. */
export const playBlocked = (world: RemoteWorld): Promise<void> =>
  onStage(
    world,
    {
      name: 'blocked',
      pools: [lentPool({ scaleDown: { unneededFor: '1s', drainTimeout: '5s' } })],
      budget: 1,
    },
    async (stage) => {
      const { people, host } = stage;
      const policy = world.consumer.plane.kubeConfig.makeApiClient(PolicyV1Api);
      await policy.createNamespacedPodDisruptionBudget({
        namespace: 'blocked',
        body: {
          metadata: { name: 'web' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
        },
      });
      await people.deploy('web', 1, { cpu: '1', memory: '1Gi' });
      await eventually(async () => expect(await stage.where('web')).toEqual(['north']), 120_000);
      const [machine] = await stage.machines();
      const drain = async () => {
        const answer = await fetch(`${host.url}/drain-node`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ machine: machine?.name, action: 'drain', last: true }),
        });
        expect(await answer.text()).toContain(machine?.name);
      };
      await drain();
      await eventually(async () => expect((await stage.machines())[0]?.state).toBe('draining'));
      await eventually(async () => expect((await stage.machines())[0]?.state).toBe('ready'), 60_000);
      expect(await stage.where('web')).toEqual(['north']);
      expect(await stage.nodesAt('north', 'web')).toEqual(['north-1']);

      await policy.deleteNamespacedPodDisruptionBudget({ namespace: 'blocked', name: 'web' });
      await people.scale('web', 0);
      await stage.everythingGivenBack();
    },
  );
