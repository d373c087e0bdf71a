import { status } from '@grpc/grpc-js';
import { providerFailpoints } from '../../../shared/process/failpoints.ts';
import { type Etcd, startEtcd } from '../../../tools/real-stack/etcd.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import type { Caller } from '../../../tools/worlds/cluster-autoscaler-client.ts';
import { machines, startWorld, type World } from '../../../tools/worlds/story.ts';
import { startServingHost } from '../../cluster-autoscaler/serving-host.ts';

/** Twice as many as are asked for: one too many would be seen. */
const four = machines.flatMap((one) => [one, { ...one, name: `${one.name}-too` }]);
const names = four.map(({ name }) => name);
const rack = { id: 'rack' };

describeWith(['etcd'], 'two replicas serve the Cluster Autoscaler on one etcd', () => {
  let world: World;
  let etcd: Etcd;
  let store: string;
  const callers: Caller[] = [];
  const serve = async (failpoint?: string) => {
    const serving = await startServingHost(world, store, failpoint === undefined ? {} : { failpoint });
    callers.push(serving.caller);
    return serving;
  };
  beforeEach(async () => {
    etcd = await startEtcd();
    store = `etcd://${new URL(etcd.endpoints[0] ?? '').host}`;
    world = await startWorld({
      machines: four,
      config: { pools: [{ name: 'rack', managedBy: 'clusterAutoscaler', provisionTimeout: '90s' }] },
    });
  });
  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.close();
    await world.close();
    await etcd.close();
  });

  /** Everything that a round of the Cluster Autoscaler asks. */
  const answersOf = async ({ call }: Caller): Promise<unknown[]> =>
    Promise.all([
      call('NodeGroups'),
      call('NodeGroupTargetSize', rack),
      call('NodeGroupNodes', rack),
      call('NodeGroupTemplateNodeInfo', rack),
      ...names.map((name) => call('NodeGroupForNode', { node: { name, providerID: `bamel://${name}` } })),
    ]);
  const answerTheSame = async (one: Caller, other: Caller, size: number): Promise<void> => {
    await eventually(async () => {
      expect(await one.size('rack')).toBe(size);
      expect(await answersOf(one)).toEqual(await answersOf(other));
    }, 60_000);
  };

  test.each(providerFailpoints.filter((name) => name.startsWith('grow')))(
    'the one that was asked for two more is killed at %s: the other one finishes, and nothing is doubled',
    async (failpoint) => {
      const doomed = await serve(failpoint);
      const other = await serve();
      for (const { caller } of [doomed, other]) await eventually(() => caller.call('Refresh'), 60_000);
      await answerTheSame(doomed.caller, other.caller, 0);
      await expect(doomed.caller.call('NodeGroupIncreaseSize', { ...rack, delta: 2 })).rejects.toMatchObject({
        code: status.UNAVAILABLE,
      });
      expect(await doomed.host.ended).toBe('SIGKILL');
      // What was promised counts at once, though nobody has begun with it.
      await eventually(async () => expect(await other.caller.size('rack')).toBe(2), 60_000);
      await eventually(async () => expect((await world.people.nodes()).length).toBe(1 + 2), 90_000);
      const third = await serve();
      await answerTheSame(third.caller, other.caller, 2);
      const given = names.map(world.commands).filter((commands) => commands.length > 0);
      expect(given).toEqual([['On'], ['On']]);
    },
    240_000,
  );
});
