import type { PowerVerb } from '../../shared/core/machine/machine.ts';
import { textOf } from '../../shared/core/reasons/reason.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { find, type Scripted, startWorld, tickUntil, type World, type WorldOptions } from './harness.ts';

const minute = 60_000;
let world: World;
afterEach(() => world.close());

/** A machine that serves, about to be powered off. */
async function aboutToGoOff(change: (machine: Scripted) => void = () => undefined): Promise<Scripted> {
  world = await startWorld();
  const machine = find(world.machines, 'm-1');
  machine.power = 'on';
  change(machine);
  await world.process().tick();
  await world.begin('m-1', 'off');
  return machine;
}
const status = async () => (await world.record('m-1')).status;
const ended = async () => (await status()).operation === undefined;

describe('off', () => {
  test('softly, and that is that', async () => {
    await aboutToGoOff();
    await tickUntil(world, world.process(), ended);
    expect(world.commands('m-1')).toEqual(['soft-off']);
    expect(await status()).toMatchObject({ state: 'off', powerState: 'off' });
    expect(await status()).not.toHaveProperty('pendingOff');
  });

  test('a soft off that is ignored becomes a hard one after the patience', async () => {
    const machine = await aboutToGoOff((one) => {
      one.obey = (verb) => {
        if (verb === 'hard-off') one.power = 'off';
      };
    });
    await tickUntil(world, world.process(), ended);
    const off = machine.calls.filter(({ what }) => what.endsWith('off'));
    const hard = off.filter(({ what }) => what === 'hard-off');
    expect(hard).toHaveLength(1);
    expect((hard[0]?.at ?? 0) - (off[0]?.at ?? 0)).toBeGreaterThanOrEqual(3 * minute);
    expect((await status()).state).toBe('off');
  });

  test('a driver without soft off is not asked for one', async () => {
    await aboutToGoOff((machine) => {
      machine.can = { softOff: false };
    });
    await tickUntil(world, world.process(), ended);
    expect(world.commands('m-1')).toEqual(['hard-off']);
  });

  test('a driver that knows no off: said at once, and its machine is never drained', async () => {
    await aboutToGoOff((machine) => {
      machine.can = { softOff: false, hardOff: false };
    });
    expect((await status()).cannotPowerOff).toBe(true);
    await world.process().tick();
    expect(world.commands('m-1')).toEqual([]);
    expect(await status()).toMatchObject({
      state: 'error',
      lastError: { code: 'power-off-failed', message: textOf({ code: 'cannot-power-off' }) },
    });
  });
});

test('a command that the BMC refuses for good ends the operation', async () => {
  world = await startWorld();
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'on');
  find(world.machines, 'm-1').onCall = (what) => {
    if (what === 'on') throw new PowerError('auth', 'm-1: its account may not do that (403)');
  };
  await process.tick();
  expect(world.commands('m-1')).toEqual(['on']);
  expect(await status()).toMatchObject({
    state: 'error',
    lastError: { message: 'm-1: its account may not do that (403)' },
    refused: { message: 'm-1: its account may not do that (403)' },
  });
});

test('a BMC gets a command every five seconds at most, whatever operation it is for', async () => {
  world = await startWorld({ autoscaler: { timings: { readEvery: '100ms' } } });
  const process = world.process();
  const machine = find(world.machines, 'm-1');
  machine.power = 'on';
  await process.tick();
  await world.begin('m-1', 'off');
  await process.tick();
  await world.begin('m-1', 'on');
  await process.tick();
  const times = machine.calls.filter(({ what }) => ['on', 'soft-off'].includes(what)).map(({ at }) => at);
  expect(times).toHaveLength(2);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
});

test('never on while an off is pending: an off that a failed operation sent is waited for', async () => {
  world = await startWorld();
  const machine = find(world.machines, 'm-1');
  machine.power = 'on';
  const process = world.process();
  await process.tick();
  await world.begin('m-1', 'off');
  // It takes every off, and acts on none of them until much later.
  machine.obey = () => undefined;
  await tickUntil(world, process, async () => (await status()).state === 'error');
  const sent = world.commands('m-1').length;
  expect((await status()).pendingOff?.verb).toBe('hard-off');

  // A person took it into maintenance and gave it back; now it is to be powered on.
  const lease = await world.store.acquire('test', 60_000, 'test');
  await lease?.release();
  const entry = await world.store.get('/baremetal/nodes/m-1/status');
  const written = JSON.parse(entry?.value ?? '{}');
  const off = { ...written, state: 'off', retryAt: undefined, lastError: undefined };
  await world.store.commit([], [{ put: '/baremetal/nodes/m-1/status', value: JSON.stringify(off) }]);
  await world.begin('m-1', 'on');
  await process.tick();
  // It reads as on; that is not believed, because the off may still come.
  expect((await status()).state).toBe('powering-on');
  machine.power = 'off';
  machine.obey = (verb: PowerVerb) => {
    machine.power = verb === 'on' ? 'on' : 'off';
  };
  await process.tick();
  expect(world.commands('m-1').slice(sent)).toEqual(['on']);
  expect((await status()).state).toBe('joining');
});

describe('a machine that only its node tells about', () => {
  const blind = async (options: WorldOptions = {}): Promise<Scripted> => {
    world = await startWorld(options);
    const machine = find(world.machines, 'm-1');
    machine.can = { status: false };
    machine.identity = { inferred: true };
    await world.process().tick();
    return machine;
  };

  test('is marked, and so is what is inferred', async () => {
    await blind();
    expect(await status()).toMatchObject({ blind: true, powerState: 'off', powerInferred: true });
  });

  test('may take as long as a boot to be seen on', async () => {
    const machine = await blind();
    machine.obey = () => undefined;
    await world.begin('m-1', 'on');
    const begun = world.clock.now();
    const process = world.process();
    await tickUntil(world, process, () => world.clock.now() - begun > 14 * minute);
    expect((await status()).state).toBe('powering-on');
    await tickUntil(world, process, async () => (await status()).state === 'error');
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(15 * minute);
  });
});

describe('a machine with a boot profile', () => {
  const machines = [{ name: 'm-1', bootProfile: 'worker' }];

  test('is told to boot from the network before every on', async () => {
    world = await startWorld({ machines });
    const machine = find(world.machines, 'm-1');
    let ignored = 1;
    machine.obey = (verb) => {
      if (ignored-- <= 0) machine.power = verb === 'on' ? 'on' : 'off';
    };
    const process = world.process();
    await process.tick();
    await world.begin('m-1', 'on');
    await tickUntil(world, process, async () => (await status()).state === 'joining');
    expect(world.commands('m-1')).toEqual(['boot-from-network', 'on', 'boot-from-network', 'on']);
  });

  test('is not powered on when it would boot something else', async () => {
    world = await startWorld({ machines });
    find(world.machines, 'm-1').onCall = (what) => {
      if (what === 'boot-from-network') throw new PowerError('refused', 'm-1: its BMC answered 400');
    };
    const process = world.process();
    await process.tick();
    await world.begin('m-1', 'on');
    await tickUntil(world, process, async () => (await status()).state === 'error');
    expect(new Set(world.commands('m-1'))).toEqual(new Set(['boot-from-network']));
  });
});

test('how far a boot has come is kept with its operation', async () => {
  world = await startWorld();
  const process = world.process();
  await process.tick();
  const operation = await world.begin('m-1', 'on');
  await process.tick();
  const machine = find(world.machines, 'm-1');
  for (const bootProgress of [
    'MemoryInitializationStarted',
    'MemoryInitializationStarted',
    'OSBootStarted',
  ]) {
    machine.identity = { bootProgress };
    world.clock.pass(minute);
    await process.tick();
  }
  const found = await process.deps.inventory.operation(operation);
  expect(found?.operation.progress?.map(({ what }) => what)).toEqual([
    'MemoryInitializationStarted',
    'OSBootStarted',
  ]);
});
