import type { Sensors } from '../../shared/ports/power.ts';
import { find, startWorld, tickUntil, type World } from './harness.ts';

const minute = 60_000;
let world: World;
afterEach(() => world.close());

const well: Sensors = { watts: 100, celsius: 40, health: 'ok', problems: [] };
const ill: Sensors = { watts: 100, celsius: 97, health: 'critical', problems: ['PSU 2 failed'] };
const status = async () => (await world.record('m-1')).status;

test('machines are looked at evenly over the period, each once in it', async () => {
  const names = Array.from({ length: 300 }, (_, index) => `m-${index + 1}`);
  world = await startWorld({ machines: names.map((name) => ({ name })) });
  const process = world.process();
  const reads = (): number => names.reduce((sum, name) => sum + find(world.machines, name).calls.length, 0);
  await process.tick();
  expect(reads()).toBe(300);
  // After the first look, every machine at its own moment.
  const perTick: number[] = [];
  for (let tick = 0; tick < 12; tick += 1) {
    world.clock.pass(10_000);
    const before = reads();
    await process.tick();
    perTick.push(reads() - before);
  }
  const [, ...afterFirst] = perTick.slice(0, 7);
  for (const count of afterFirst) expect(count).toBeLessThan(100);
  for (const name of names) {
    const looks = find(world.machines, name).calls.length;
    expect(looks).toBeGreaterThanOrEqual(3);
    expect(looks).toBeLessThanOrEqual(4);
  }
});

test('nothing is written while nothing changes', async () => {
  world = await startWorld({ machines: ['m-1', 'm-2'].map((name) => ({ name })) });
  for (const machine of world.machines.values()) machine.sensors = well;
  const process = world.process();
  await process.tick();
  const { revision } = await world.store.list('/');
  const sensed = (): number =>
    find(world.machines, 'm-1').calls.filter(({ what }) => what === 'sense').length;
  const before = sensed();
  for (let tick = 0; tick < 9; tick += 1) {
    world.clock.pass(minute);
    // Noise.
    for (const machine of world.machines.values())
      machine.sensors = { ...well, watts: 100 + tick, celsius: 41 };
    await process.tick();
  }
  expect((await world.store.list('/')).revision).toBe(revision);
  // Every fifth look, not every one.
  expect(sensed() - before).toBeGreaterThan(0);
  expect(sensed() - before).toBeLessThanOrEqual(2);
  for (const machine of world.machines.values()) machine.sensors = { ...well, watts: 300 };
  world.clock.pass(6 * minute);
  await process.tick();
  expect((await world.record('m-1')).metrics).toMatchObject({ watts: 300, health: 'ok' });
});

test('what was measured does not take away what evaluations remember', async () => {
  world = await startWorld();
  find(world.machines, 'm-1').sensors = well;
  const put = '/baremetal/nodes/m-1/metrics';
  await world.store.commit([], [{ put, value: JSON.stringify({ v: 1, idleSince: 5 }) }]);
  await world.process().tick();
  expect((await world.record('m-1')).metrics).toMatchObject({ idleSince: 5, watts: 100, celsius: 40 });
});

describe('hardware that is ill', () => {
  test('is quarantined while it is off, with what is wrong, until it is well', async () => {
    world = await startWorld();
    const machine = find(world.machines, 'm-1');
    machine.sensors = ill;
    const process = world.process();
    await process.tick();
    expect(await status()).toMatchObject({
      state: 'error',
      lastError: { code: 'unhealthy', message: 'PSU 2 failed' },
    });
    expect(world.said).toContain('m-1 hardware has a problem');
    world.clock.pass(30 * minute);
    await process.tick();
    expect((await status()).state).toBe('error');

    machine.sensors = well;
    await tickUntil(world, process, async () => (await status()).state === 'off');
    expect(await status()).toMatchObject({ attempts: 0 });
    expect(await status()).not.toHaveProperty('lastError');
    expect(world.said).toContain('m-1 hardware is well again');
  });

  test('is reported and goes on serving when it is on', async () => {
    world = await startWorld();
    const machine = find(world.machines, 'm-1');
    machine.power = 'on';
    machine.sensors = well;
    const process = world.process();
    await process.tick();
    machine.sensors = ill;
    for (let tick = 0; tick < 3; tick += 1) {
      world.clock.pass(6 * minute);
      await process.tick();
    }
    expect((await status()).state).toBe('joining');
    expect(world.said.filter((line) => line === 'm-1 hardware has a problem')).toHaveLength(1);
    expect((await world.record('m-1')).metrics).toMatchObject({
      health: 'critical',
      problems: ['PSU 2 failed'],
    });
  });

  test('one bad measurement is none', async () => {
    world = await startWorld();
    const machine = find(world.machines, 'm-1');
    machine.sensors = ill;
    machine.onCall = (what) => {
      if (machine.calls.filter((call) => call.what === 'sense').length > 1 && what === 'sense')
        machine.sensors = well;
    };
    await world.process().tick();
    expect((await status()).state).toBe('off');
  });
});

describe('powerState set by hand', () => {
  const machines = (powerState: 'on' | 'off') => [{ name: 'm-1', powerState }];

  test('on: powered on', async () => {
    world = await startWorld({ machines: machines('on') });
    const process = world.process();
    await tickUntil(world, process, async () => (await status()).state === 'joining');
    expect(world.commands('m-1')).toEqual(['on']);
  });

  test('off: drained, not cut', async () => {
    world = await startWorld({ machines: machines('off') });
    find(world.machines, 'm-1').power = 'on';
    const process = world.process();
    await process.tick();
    const serving = { v: 1, ...(await status()), state: 'ready', kubernetesNode: 'm-1', nodeReady: true };
    await world.store.commit([], [{ put: '/baremetal/nodes/m-1/status', value: JSON.stringify(serving) }]);
    world.clock.pass(2 * minute);
    await process.tick();
    expect((await status()).state).toBe('draining');
    expect(world.emitted.at(-1)?.type).toBe('dev.bamel.drain.requested');
    expect(world.commands('m-1')).toEqual([]);
  });

  test('nothing is begun in a dry run', async () => {
    world = await startWorld({ machines: machines('on'), autoscaler: { dryRun: true } });
    expect(await world.process().tick()).toEqual({ 'm-1': 'would be powered on, but this is a dry run' });
    expect((await status()).state).toBe('off');
  });
});
