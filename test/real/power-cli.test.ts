import { runBamel } from '../cli/run-bamel.ts';
import { startWorld, type World } from '../story/story.ts';
import { describeWith } from '../support/programs.ts';
import { type Etcd, startEtcd } from './stack/etcd.ts';

describeWith(['etcd'], 'bamel power on an etcd, which it writes to itself', () => {
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
    expect(off.stderr).toContain('nobody has taken it up for 20 s');
    expect((await runBamel(['power', 'm-1', 'status'], env, 60_000)).stdout).toMatch(
      /^state +draining since /m,
    );
    expect(world.commands('m-1')).toEqual(['On']);
  }, 300_000);
});
