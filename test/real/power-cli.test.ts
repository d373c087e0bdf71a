import { type Etcd, startEtcd } from '../../tools/real-stack/etcd.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';
import { runBamel } from '../cli/run-bamel.ts';

describeWith(['etcd'], 'bamel by hand on an etcd, which it writes to itself', () => {
  let etcd: Etcd;
  let world: World;
  let env: Record<string, string>;
  beforeAll(async () => {
    etcd = await startEtcd();
    world = await startWorld({ config: { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h' } }] } });
    env = { BAMEL_STORE: `etcd://${new URL(etcd.endpoints[0] ?? '').host}` };
  });
  afterAll(async () => {
    await world.close();
    await etcd.close();
  });

  test('a host carries it out; without one that is said, and the operation waits', async () => {
    const host = await world.startHost(env.BAMEL_STORE ?? '');
    const on = await runBamel(['power', 'm-1', 'on'], env, 120_000);
    expect([on.code, on.stderr]).toEqual([0, '']);
    expect(on.stdout).toMatch(/m-1 {2}on sent to its BMC/);
    expect(on.stdout).toMatch(/m-1 {2}joined: ready/);
    expect(world.commands('m-1')).toEqual(['On']);

    expect(await host.stop()).toBe('0');
    const off = await runBamel(['power', 'm-1', 'off', '--last'], env, 120_000);
    expect(off.code).toBe(1);
    expect(off.stderr).toContain('no process has started it for 20 s');
    expect((await runBamel(['power', 'm-1', 'status'], env, 60_000)).stdout).toMatch(
      /^state +draining since /m,
    );
    expect(world.commands('m-1')).toEqual(['On']);

    // Called off while nobody runs: whoever starts next opens its node.
    const back = await runBamel(['uncordon', 'm-1'], env, 60_000);
    expect([back.code, back.stdout]).toEqual([0, 'm-1 is ready: its drain is called off\n']);
    const held = await runBamel(['maintenance', 'm-2', 'on'], env, 60_000);
    expect([held.code, held.stdout]).toEqual([0, 'm-2 is in maintenance\n']);
    expect((await runBamel(['retry', 'm-2'], env, 60_000)).code).toBe(0);
    const { stdout } = await runBamel(['get', 'machines', '-o', 'json'], env, 60_000);
    const states = JSON.parse(stdout).items.map(({ name, state }: Record<string, string>) => [name, state]);
    expect(states).toEqual([
      ['m-1', 'ready'],
      ['m-2', 'maintenance'],
    ]);
    const told = (await runBamel(['events'], env, 60_000)).stdout;
    expect(told).toMatch(/m-1 {2}drain aborted: draining → ready {2}by \S+@\S+/);
    expect(told).toMatch(/m-2 {2}quarantine lifted {2}by \S+@\S+/);
  }, 300_000);
});
