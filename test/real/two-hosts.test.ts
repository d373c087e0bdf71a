import { type Etcd, startEtcd } from '../../tools/real-stack/etcd.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';

const names = ['m-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6'];
const maxNodes = 4;

describeWith(['etcd'], 'two hosts on one etcd, both getting every event', () => {
  let world: World;
  let etcd: Etcd;
  let store: string;
  beforeEach(async () => {
    etcd = await startEtcd();
    store = `etcd://${new URL(etcd.endpoints[0] ?? '').host}`;
    world = await startWorld({
      machines: names.map((name) => ({
        name,
        cpu: 4,
        memory: '16Gi',
        bootSeconds: 40,
        shutdownSeconds: 10,
        pool: 'rack',
      })),
      config: {
        pools: [
          { name: 'rack', limits: { maxNodes }, scaleDown: { unneededFor: '1s' }, provisionTimeout: '90s' },
        ],
      },
    });
  });
  afterEach(async () => {
    await world.close();
    await etcd.close();
  });

  /** How many machines were on at once at the most, from the commands' order over all BMCs. */
  function mostOn(): number {
    const commands = names
      .flatMap((name) => world.lab.machines.get(name)?.machine.commands ?? [])
      .sort((a, b) => a.at - b.at);
    let on = 0;
    let most = 0;
    for (const { verb } of commands) {
      on += verb === 'On' ? 1 : -1;
      most = Math.max(most, on);
    }
    return most;
  }

  test('fault 30: one accepted operation per machine, the pool maximum never exceeded', async () => {
    await Promise.all([world.startHost(store), world.startHost(store)]);
    await world.people.deploy('web', 8, { cpu: '3' });
    await eventually(async () => expect(await world.people.running('web')).toHaveLength(maxNodes), 60_000);
    await world.people.scale('web', 0);
    await eventually(() => {
      const off = [...world.lab.machines.values()].filter(({ machine }) => machine.powerState === 'Off');
      expect(off).toHaveLength(names.length);
    }, 60_000);
    const given = names.map(world.commands).filter((commands) => commands.length > 0);
    // Every machine that was used got one on and one off, by whichever host; nobody's command came twice.
    expect(given).toEqual(Array.from({ length: maxNodes }, () => ['On', 'GracefulShutdown']));
    expect(mostOn()).toBe(maxNodes);
  });

  test('one is killed in the middle of an operation: the other takes over when the lease is over', async () => {
    const doomed = await world.startHost(store, { failpoint: 'power-before-command-on' });
    await world.people.deploy('web', 1, { cpu: '3' });
    // Started only now, so that it is the other that has the operation.
    expect(await doomed.ended).toBe('SIGKILL');
    await world.startHost(store);
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1']), 60_000);
    expect(names.flatMap(world.commands)).toEqual(['On']);
  });
});
