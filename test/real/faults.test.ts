import type { ConfigInput } from '../../shared/schema/config.ts';
import { labTimings } from '../../simulator/lab/config.ts';
import { base64, type Etcd, etcdCall, startEtcd } from '../../tools/real-stack/etcd.ts';
import { type CutProxy, startProxy } from '../../tools/support/cut-proxy.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { playStory, readInventory, startWorld, storyConfig, type World } from '../../tools/worlds/story.ts';

const storeUrl = (endpoints: readonly string[]): string =>
  `etcd://${endpoints.map((endpoint) => new URL(endpoint).host).join(',')}`;

const ends = (store: string): Promise<string[]> =>
  readInventory(store, async (inventory) =>
    (await inventory.store.list('/baremetal/operations/')).entries.map(({ value }) => {
      const { machine, goal, end } = JSON.parse(value);
      return `${machine} ${goal} ${end}`;
    }),
  );

const history = (store: string, machine: string): Promise<string[]> =>
  readInventory(
    store,
    async (inventory) => (await inventory.machine(machine))?.history.map(({ event }) => event) ?? [],
  );

const allDone = ['m-1 off done', 'm-1 on done', 'm-2 off done', 'm-2 on done'];

/** A busy machine makes hosts and leases late: no reason to give a machine up and try another. */
const patient: Partial<ConfigInput> = {
  ...storyConfig,
  autoscaler: {
    ...storyConfig.autoscaler,
    timings: { ...labTimings, powerOnTimeout: '5m', powerOffTimeout: '5m', shortestJoinTimeout: '5m' },
  },
};

/** Nothing may happen, however long one looks; long enough for several ticks. */
async function nothingHappens(world: World): Promise<void> {
  const before = ['m-1', 'm-2'].map(world.commands);
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  expect(['m-1', 'm-2'].map(world.commands)).toEqual(before);
}

describeWith(['etcd'], 'faults of etcd and of leases', () => {
  let world: World;
  let etcd: Etcd;
  let proxy: CutProxy | undefined;
  beforeEach(async () => {
    world = await startWorld({ config: patient });
  });
  afterEach(async () => {
    await world.close();
    await proxy?.close();
    proxy = undefined;
    await etcd?.close();
  });

  test('fault 6: a stale lease holder resumes → its transaction is refused', async () => {
    etcd = await startEtcd();
    const store = storeUrl(etcd.endpoints);
    const stopped = await world.startHost(store, { failpoint: 'power-before-result-on=stop' });
    await world.people.deploy('web', 1, { cpu: '3' });
    // It has commanded the machine, and stands still just before it writes the result down.
    await eventually(() => expect(stopped.standsStill()).toBe(true));
    expect(world.commands('m-1')).toEqual(['On']);
    const other = await world.startHost(store);
    const once = ['power-on-requested', 'powered-on', 'joined'];
    await eventually(async () => expect(await history(store, 'm-1')).toEqual(once), 60_000);
    stopped.kill('SIGCONT');
    other.kill('SIGKILL');
    // The one that was stopped works again, and has changed nothing that the other had done.
    await world.people.scale('web', 2);
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1', 'm-2']), 60_000);
    await eventually(async () => expect(await history(store, 'm-2')).toEqual(once), 60_000);
    expect(await history(store, 'm-1')).toEqual(once);
    expect([world.commands('m-1'), world.commands('m-2')]).toEqual([['On'], ['On']]);
  });

  test('fault 7: the lease expires before a BMC call → not sent; whoever holds it now reads, then finishes', async () => {
    etcd = await startEtcd();
    const store = storeUrl(etcd.endpoints);
    const stopped = await world.startHost(store, { failpoint: 'power-before-command-on=stop' });
    await world.people.deploy('web', 1, { cpu: '3' });
    await eventually(() => expect(stopped.standsStill()).toBe(true));
    await world.startHost(store);
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1']), 60_000);
    stopped.kill('SIGCONT');
    await nothingHappens(world);
    expect([world.commands('m-1'), world.commands('m-2')]).toEqual([['On'], []]);
  });

  test('fault 7: neither BMC nor store answers during a call → unknown, and finished later by reading', async () => {
    etcd = await startEtcd();
    proxy = await startProxy(Number(new URL(etcd.endpoints[0] ?? '').port));
    const host = await world.startHost(`etcd://127.0.0.1:${proxy.port}`, {
      failpoint: 'power-before-command-on=stop',
    });
    await world.people.deploy('web', 1, { cpu: '3' });
    await eventually(() => expect(host.standsStill()).toBe(true));
    const machine = world.lab.machines.get('m-1')?.machine;
    machine?.faults.set({ fault: 'hang' });
    proxy.freeze();
    host.kill('SIGCONT');
    await nothingHappens(world);
    machine?.faults.clear();
    // The BMC is back, but without a lease nobody touches the machine.
    await nothingHappens(world);
    expect(world.commands('m-1')).toEqual([]);
    proxy.heal();
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1']), 60_000);
    expect([world.commands('m-1'), world.commands('m-2')]).toEqual([['On'], []]);
  });

  test('fault 8: etcd leader loss → an ambiguous write is read again by operation id', async () => {
    etcd = await startEtcd({ members: 3 });
    const store = storeUrl(etcd.endpoints);
    await world.startHost(store);
    const playing = playStory(world);
    for (const phase of ['On', 'GracefulShutdown']) {
      await eventually(
        () => expect([...world.commands('m-1'), ...world.commands('m-2')]).toContain(phase),
        60_000,
      );
      const leader = await etcd.leader();
      await leader.kill();
      await leader.restart();
    }
    await playing;
    for (const machine of ['m-1', 'm-2']) {
      const commands = world.commands(machine);
      expect(commands.filter((command, index) => command !== commands[index - 1])).toEqual([
        'On',
        'GracefulShutdown',
      ]);
    }
    await eventually(async () => expect((await ends(store)).sort()).toEqual(allDone));
  });

  test('fault 9: etcd minority partition → no action, said so, and on once it is back', async () => {
    etcd = await startEtcd({ members: 3 });
    const host = await world.startHost(storeUrl(etcd.endpoints));
    await eventually(async () => expect((await fetch(`${host.url}/health/readiness`)).status).toBe(200));
    const [first, second] = etcd.members;
    first?.stop();
    second?.stop();
    await world.people.deploy('web', 2, { cpu: '3' });
    await nothingHappens(world);
    // The first check hangs until the store's deadline; what it ends with is the reason from then on.
    await eventually(async () => {
      const readiness = await fetch(`${host.url}/health/readiness`);
      expect(readiness.status).toBe(503);
      expect(await readiness.text()).toMatch(/etcd.*Nothing is powered on or off/s);
    }, 30_000);
    first?.cont();
    second?.cont();
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1', 'm-2']), 60_000);
    expect([world.commands('m-1'), world.commands('m-2')]).toEqual([['On'], ['On']]);
  });

  test('fault 11: etcd quota full → no action, said what to do, and on once there is space', async () => {
    etcd = await startEtcd({ quotaBytes: 2 * 2 ** 20 });
    const [endpoint = ''] = etcd.endpoints;
    const host = await world.startHost(storeUrl(etcd.endpoints));
    await eventually(async () => expect((await fetch(`${host.url}/health/readiness`)).status).toBe(200));
    const junk = base64('x'.repeat(200_000));
    for (let index = 0; index < 60; index += 1)
      if ((await etcdCall(endpoint, 'kv/put', { key: base64('junk'), value: junk })).status !== 200) break;
    await world.people.deploy('web', 2, { cpu: '3' });
    await nothingHappens(world);
    const said = (text: string): boolean => host.lines.some((line) => line.includes(text));
    await eventually(() =>
      expect(said('space quota is used up. Nothing is powered on or off until')).toBe(true),
    );

    await etcdCall(endpoint, 'kv/deleterange', { key: base64('junk') });
    await etcd.compact();
    await etcdCall(endpoint, 'maintenance/defragment');
    const { alarms } = (await etcdCall(endpoint, 'maintenance/alarm', { action: 'GET' })).body;
    for (const alarm of alarms as object[])
      await etcdCall(endpoint, 'maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
    await eventually(async () => expect(await world.people.running('web')).toEqual(['m-1', 'm-2']), 60_000);
    expect([world.commands('m-1'), world.commands('m-2')]).toEqual([['On'], ['On']]);
  });
});
