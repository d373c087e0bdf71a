import { join } from 'node:path';
import { eventually } from '../../tools/support/eventually.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';
import { runBamel } from './run-bamel.ts';

/** One machine that is off, a lab around it, and a host that runs on an embedded file. */
let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await startWorld({
    // Nobody else powers anything off meanwhile.
    config: { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h' } }] },
  });
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  const host = await world.startHost(store);
  env = { BAMEL_STORE: store, BAMEL_URL: host.url };
  await eventually(async () =>
    expect((await runBamel(['power', 'm-1', 'status'], env)).stdout).toMatch(/^power +off$/m),
  );
}, 120_000);
afterAll(() => world.close());

test('status says how a machine is, and what to do next', async () => {
  const { code, stdout } = await runBamel(['power', 'm-1', 'status'], env);
  expect(code).toBe(0);
  expect(stdout).toContain('machine   m-1 (redfish, pool rack)');
  expect(stdout).toMatch(/^state +off since /m);
  expect(stdout).toContain('not yet: bamel test-power m-1');
});

test('test-power: on, Ready, off again, and proven', async () => {
  const { code, stdout, stderr } = await runBamel(['test-power', 'm-1'], env, 90_000);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain('on sent to its BMC');
  expect(stdout).toMatch(/m-1 is on and Ready after [\d.]+s/);
  expect(stdout).toContain('soft off sent to its BMC');
  expect(stdout).toMatch(/m-1 is proven: off, on and Ready in /);
  expect(world.commands('m-1')).toEqual(['On', 'GracefulShutdown']);
  expect((await runBamel(['power', 'm-1', 'status'], env)).stdout).toMatch(/^proven +20/m);
}, 120_000);

test('on and off by hand, step by step', async () => {
  const before = world.commands('m-2').length;
  const on = await runBamel(['power', 'm-2', 'on'], env, 90_000);
  expect([on.code, on.stderr]).toEqual([0, '']);
  expect(on.stdout).toMatch(/m-2 {2}power on requested: powering-on \(\S+@\S+ asked for it\)/);
  expect(on.stdout).toMatch(/m-2 {2}joined: ready/);
  const off = await runBamel(['power', 'm-2', 'off', '--last'], env, 90_000);
  expect([off.code, off.stderr]).toEqual([0, '']);
  expect(off.stdout).toMatch(/drain requested: draining/);
  expect(off.stdout).toMatch(/powered off: off/);
  expect(world.commands('m-2').slice(before)).toEqual(['On', 'GracefulShutdown']);
}, 200_000);

test.each([
  ['nothing', ['power'], /which machine, and on, off or status\?/, 2],
  ['no such machine', ['power', 'nobody', 'on'], /there is no machine called nobody/, 1],
  [
    'a cut without its name',
    ['power', 'm-1', 'off', '--no-drain', 'm-2'],
    /bamel power m-1 off --no-drain m-1/,
    2,
  ],
])('a mistake is told: %s', async (_what, args, message, code) => {
  const ran = await runBamel(args, env);
  expect(ran.stderr).toMatch(message);
  expect(ran.code).toBe(code);
});

test('where no host runs it says so, and begins nothing', async () => {
  const store = `embedded:${join(world.files.folder, 'other.db')}`;
  const { openStore } = await import('../../shared/adapters/store/open-store.ts');
  const { loadInventory } = await import('../../shared/state/inventory-load.ts');
  const opened = await openStore(store);
  await loadInventory(opened, {
    schemaVersion: 'v1alpha1',
    pools: [{ name: 'rack' }],
    machines: [
      {
        name: 'm-1',
        pool: 'rack',
        powerInterface: 'redfish',
        mgmtAddress: 'https://10.0.0.5',
        resources: { cpu: 1, memory: '1Gi' },
      },
    ],
  });
  await opened.close();
  const ran = await runBamel(['power', 'm-1', 'on'], { BAMEL_STORE: store });
  expect(ran.stderr).toContain('no host runs on');
  expect(ran.code).toBe(1);
});

test('credentials that its BMC refuses show in its status, with what to do', async () => {
  world.lab.machines.get('m-2')?.machine.faults.set({ fault: 'wrong-credentials' });
  const told = await eventually(async () => {
    const ran = await runBamel(['power', 'm-2', 'status'], env, 60_000);
    expect(ran.stdout).toMatch(/^refused /m);
    return ran.stdout;
  }, 60_000);
  expect(told).toMatch(/^refused {3}.*refused the credentials/m);
  expect(told).toMatch(
    /^to do {5}put the right ones where bmcCredentials of m-2 points: .* again at 20\d\d-/m,
  );
  expect((await runBamel(['describe', 'machine', 'm-2'], env, 60_000)).stdout).toMatch(/^Refused: +\S/m);
}, 150_000);
