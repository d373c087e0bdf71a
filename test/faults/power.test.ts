import { textOf } from '../../shared/core/reasons/reason.ts';
import { defaultTimings } from '../../shared/core/settings.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { find, startWorld, tickUntil, type World, type WorldOptions } from '../power-action/harness.ts';

const minute = 60_000;

let world: World;
const start = async (options: WorldOptions = {}): Promise<World> => {
  world = await startWorld(options);
  return world;
};
afterEach(() => world.close());

const state = async (name = 'm-1') => (await world.record(name)).status.state;

test('fault 5: killed after the command, before the result → the BMC is read, then it is finished', async () => {
  const { machines } = await start();
  await world.process().tick();
  await world.begin('m-1', 'on');
  const doomed = world.process((name) => {
    if (name === 'power-after-command-on') throw new Error('killed');
  });
  await expect(doomed.tick()).rejects.toThrow('killed');
  expect(world.commands('m-1')).toEqual(['on']);
  expect(await state()).toBe('powering-on');

  expect(await world.process().tick()).toEqual({ 'm-1': 'power is on' });
  expect(find(machines, 'm-1').calls.at(-1)?.what).toBe('read');
  expect(world.commands('m-1')).toEqual(['on']);
  expect(await state()).toBe('joining');
});

test('fault 7: lease expires during a BMC call → abort, mark unknown', async () => {
  const { machines, store } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  const lost = new AbortController();
  const acquire = store.acquire.bind(store);
  store.acquire = async (...args) => {
    const lease = await acquire(...args);
    return (
      lease && { ...lease, lost: lost.signal, release: () => lease.release(), remainingMs: () => 60_000 }
    );
  };
  const operation = await world.begin('m-1', 'on');
  let aborted = false;
  machine.onCall = async (what, signal) => {
    if (what !== 'on') return;
    // Somebody else takes the lease while the BMC does not answer.
    lost.abort();
    aborted = signal.aborted;
    throw new PowerError('timeout', 'm-1: its BMC did not answer in time');
  };
  const answers = await process.tick();
  expect(aborted).toBe(true);
  expect(answers['m-1']).not.toBe('power is on');
  const { status } = await world.record('m-1');
  expect(status).toMatchObject({ state: 'powering-on', powerState: 'unknown', operation });
  // Nobody knows what became of the command: it is read, and not sent again.
  store.acquire = acquire;
  machine.onCall = () => undefined;
  machine.power = 'on';
  await tickUntil(world, world.process(), async () => (await state()) === 'joining');
  expect(world.commands('m-1')).toEqual(['on']);
});

test('fault 13: BMC slow → a time-out means unknown, and the BMC is left alone for a growing while', async () => {
  const { machines, clock } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  const calls = () => machine.calls.length;
  const before = calls();
  machine.onCall = () => {
    throw new PowerError('timeout', 'm-1: its BMC did not answer in time');
  };
  await process.tick();
  expect((await world.record('m-1')).status).toMatchObject({
    state: 'powering-on',
    powerState: 'unknown',
    bmcReachable: false,
  });
  // Three in a row, then after 4 and 8 seconds: not every two seconds for the twenty that an invocation lasts.
  expect(calls() - before).toBeLessThanOrEqual(6);
  expect(calls() - before).toBeGreaterThanOrEqual(4);
  expect(world.said.filter((line) => line === 'm-1 BMC calls paused')).toHaveLength(1);
  expect(world.commands('m-1')).toEqual([]);

  machine.onCall = () => undefined;
  clock.pass(minute);
  await process.tick();
  expect(world.said).toContain('m-1 BMC answers again');
  expect(await state()).toBe('joining');
});

test('fault 13: a BMC that asks for time gets it', async () => {
  const { machines, clock } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  const asked = clock.now();
  let busy = true;
  machine.onCall = () => {
    if (!busy) return;
    busy = false;
    throw new PowerError('busy', 'm-1: its BMC is busy (503)', { retryAfterMs: 45_000 });
  };
  const before = machine.calls.length;
  await tickUntil(world, process, async () => (await state()) === 'joining', 1_000);
  const [, again] = machine.calls.slice(before);
  expect((again?.at ?? 0) - asked).toBeGreaterThanOrEqual(45_000);
});

test('fault 14: BMC flapping → N stable reads', async () => {
  const { machines } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  let flips = 0;
  machine.onCall = (what) => {
    if (what === 'read') machine.power = flips++ % 2 === 0 ? 'off' : 'on';
  };
  await process.tick();
  await process.tick();
  // Every other read says on: that is not on.
  expect(await state()).toBe('powering-on');
  machine.onCall = () => undefined;
  machine.power = 'on';
  await process.tick();
  expect(await state()).toBe('joining');
});

test('fault 15: BMC says OK, nothing changes → verify, re-send, quarantine', async () => {
  const { machines, clock } = await start();
  const machine = find(machines, 'm-1');
  machine.obey = () => undefined;
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  const begun = clock.now();
  await tickUntil(world, process, async () => (await state()) === 'error');
  const { status } = await world.record('m-1');
  expect(status.lastError).toMatchObject({
    code: 'power-on-failed',
    message: textOf({ code: 'power-on-timeout', power: 'off', afterMs: 300_000 }),
  });
  expect(status.attempts).toBe(1);
  expect((status.retryAt ?? 0) - clock.now()).toBeGreaterThan(4 * minute);
  const sent = machine.calls.filter(({ what }) => what === 'on').map(({ at }) => at - begun);
  expect(sent.length).toBeGreaterThanOrEqual(5);
  for (const [index, at] of sent.entries())
    if (index > 0) expect(at - (sent[index - 1] ?? 0)).toBeGreaterThanOrEqual(defaultTimings.resendAfterMs);
  // In quarantine nothing is sent; afterwards it may be chosen again.
  clock.pass(6 * minute);
  await tickUntil(world, process, async () => (await state()) === 'off');
  expect(machine.calls.filter(({ what }) => what === 'on')).toHaveLength(sent.length);
});

test.each([
  ['systemUUID', { systemUUID: 'of-another' }],
  ['serialNumber', { serial: 'OTHER' }],
])('fault 16: BMC of another machine → checked by %s, refused', async (field, identity) => {
  const { machines } = await start({
    machines: [{ name: 'm-1', systemUUID: 'UUID-1', serialNumber: 'serial-1' }],
  });
  const machine = find(machines, 'm-1');
  machine.identity = { systemUUID: 'uuid-1', serial: 'SERIAL-1' };
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  machine.identity = { ...machine.identity, ...identity };
  await process.tick();
  expect(world.commands('m-1')).toEqual([]);
  const { status } = await world.record('m-1');
  expect(status.state).toBe('error');
  expect(status.lastError?.message).toContain(`Correct mgmtAddress or ${field}`);
});

describe('fault 17: BMC 401 or lockout → no hammering', () => {
  const refusing = async () => {
    const { machines, clock } = await start({ machines: [{ name: 'm-1', bmcCredentials: 'bmc' }] });
    const machine = find(machines, 'm-1');
    const process = world.process();
    await process.tick();
    await world.begin('m-1', 'on');
    machine.onCall = () => {
      throw new PowerError('auth', 'm-1: its BMC refused the credentials (401)');
    };
    const before = machine.calls.length;
    const tries = (): number => machine.calls.length - before;
    await process.tick();
    expect(await state()).toBe('error');
    expect(tries()).toBe(1);
    return { machine, clock, process, tries };
  };

  test('one try in half an hour, whoever looks', async () => {
    const { clock, process, tries } = await refusing();
    const other = world.process();
    for (let tick = 0; tick < 29; tick += 1) {
      clock.pass(minute);
      await process.tick();
      await other.tick();
    }
    expect(tries()).toBe(1);
    clock.pass(2 * minute);
    await other.tick();
    expect(tries()).toBe(2);
    expect((await world.record('m-1')).status.refused?.until).toBeGreaterThan(clock.now());
  });

  test('a new Secret is tried at once', async () => {
    const { machine, clock, process, tries } = await refusing();
    machine.onCall = () => undefined;
    world.credentials = { username: 'admin', password: 'the right one' };
    clock.pass(6 * minute);
    await tickUntil(world, process, async () => (await state()) === 'off');
    expect(tries()).toBeGreaterThan(1);
    expect((await world.record('m-1')).status.refused).toBeUndefined();
  });

  test('a new spec is tried at once', async () => {
    const { machine, clock, process, tries } = await refusing();
    machine.onCall = () => undefined;
    const { input } = await world.record('m-1');
    await loadInventory(world.store, {
      schemaVersion: 'v1alpha1',
      pools: [{ name: 'rack' }],
      machines: [{ ...input, bmcCredentials: 'another' }],
    });
    clock.pass(6 * minute);
    await tickUntil(world, process, async () => (await state()) === 'off');
    expect(tries()).toBeGreaterThan(1);
  });
});

test('fault 31: a person powers a machine by hand → adopted, not fought', async () => {
  const { machines, clock } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  machine.power = 'on';
  clock.pass(2 * minute);
  await process.tick();
  expect(await state()).toBe('joining');
  machine.power = 'off';
  clock.pass(2 * minute);
  await process.tick();
  expect(await state()).toBe('error');
  expect(world.commands('m-1')).toEqual([]);
});

test('fault 31: what a person does while an operation waits is seen, and no command contradicts it', async () => {
  const { machines } = await start();
  const machine = find(machines, 'm-1');
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  machine.power = 'on';
  await process.tick();
  expect(await state()).toBe('joining');
  expect(world.commands('m-1')).toEqual([]);
});

test('fault 32: inventory edited during an operation → the operation keeps its own copy', async () => {
  const { machines } = await start({ machines: [{ name: 'm-1', systemUUID: 'uuid-1' }] });
  const machine = find(machines, 'm-1');
  machine.identity = { systemUUID: 'uuid-1' };
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  const { input } = await world.record('m-1');
  await loadInventory(world.store, {
    schemaVersion: 'v1alpha1',
    pools: [{ name: 'rack' }],
    machines: [{ ...input, systemUUID: 'uuid-2' }],
  });
  await process.tick();
  expect(await state()).toBe('joining');
  expect(world.commands('m-1')).toEqual(['on']);
});

describe('fault 41: inrush → power-ons per minute, per rack, per circuit capped', () => {
  const names = Array.from({ length: 9 }, (_, index) => `m-${index + 1}`);
  const most = (times: readonly number[]): number =>
    Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + minute).length));
  const at = (name: string): number[] =>
    find(world.machines, name)
      .calls.filter(({ what }) => what === 'on')
      .map((call) => call.at);

  test.each([
    ['perMinute', 3, 3],
    ['perRack', 2, 6],
    ['perCircuit', 1, 3],
  ] as const)('%s: %i', async (limit, allowed, together) => {
    await start({
      machines: names.map((name, index) => ({
        name,
        rack: `rack-${index % 3}`,
        powerCircuit: `circuit-${index % 3}`,
      })),
      autoscaler: { rateLimits: { [limit]: allowed } },
    });
    // Two processes know nothing of each other but what is in the store.
    const processes = [world.process(), world.process()];
    await processes[0]?.tick();
    for (const name of names) await world.begin(name, 'on');
    for (let tick = 0; tick < 40; tick += 1) {
      await Promise.all(processes.map((process) => process.tick()));
      world.clock.pass(5_000);
    }
    const times = names.flatMap(at);
    // All of them came on, however long they had to wait; none was quarantined for waiting.
    expect(times).toHaveLength(names.length);
    for (const name of names) expect(await state(name)).toBe('joining');
    expect(most(times)).toBe(together);
    for (const group of [0, 1, 2]) {
      const members = names.filter((_, index) => index % 3 === group).flatMap(at);
      if (limit !== 'perMinute') expect(most(members)).toBe(allowed);
    }
  });
});
