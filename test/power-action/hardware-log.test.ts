import type { LogReading } from '../../shared/core/machine/hardware-log.ts';
import type { Sensors } from '../../shared/ports/power.ts';
import { find, type Process, type Scripted, startWorld, tickUntil, type World } from './harness.ts';

const minute = 60_000;
const well: Sensors = { watts: 100, celsius: 40, health: 'ok', problems: [] };
const empty: LogReading = { entries: [], restarted: true };
const psu: LogReading = {
  last: '5/1',
  restarted: true,
  entries: [{ kind: 'critical', about: 'psu', text: 'power supply 0x51: failure detected' }],
};
const nothingNew: LogReading = { last: '5/1', restarted: false, entries: [] };

let world: World;
let machine: Scripted;
let process: Process;
beforeEach(async () => {
  world = await startWorld();
  machine = find(world.machines, 'm-1');
  machine.sensors = well;
  machine.log = empty;
  process = world.process();
});
afterEach(() => world.close());

const status = async () => (await world.record('m-1')).status;
const logReads = () => machine.calls.filter(({ what }) => what.startsWith('log')).map(({ what }) => what);
const until = (state: string) => tickUntil(world, process, async () => (await status()).state === state);

/** As BMCs do: once it was read to its end, there is nothing new in it. */
const tellOnce = (reading: LogReading): void => {
  machine.log = reading;
  machine.onCall = (what) => {
    if (what === `log after ${reading.last}`) machine.log = { ...nothingNew, last: reading.last };
  };
};

test('a critical entry quarantines a machine before it is ever chosen, with its text', async () => {
  tellOnce(psu);
  await process.tick();
  expect(await status()).toMatchObject({
    state: 'error',
    lastError: { code: 'unhealthy', message: 'SEL critical: power supply 0x51: failure detected' },
  });
  expect((await world.record('m-1')).metrics).toMatchObject({ health: 'critical', watts: 100 });
  expect(world.said).toContain('m-1 hardware has a problem');
  // It stays: nobody has said that it is over.
  world.clock.pass(60 * minute);
  await process.tick();
  expect((await status()).state).toBe('error');
  // Also for a process that knows nothing but the store.
  process = world.process();
  world.clock.pass(60 * minute);
  await process.tick();
  expect((await status()).state).toBe('error');
});

test('it is read rarely, and from where it was read to', async () => {
  machine.log = { ...empty, last: '5/1' };
  await process.tick();
  expect(logReads()).toEqual(['log after nothing']);
  for (let minutes = 0; minutes < 60; minutes += 1) {
    world.clock.pass(minute);
    await process.tick();
  }
  const reads = logReads();
  expect(reads.length).toBeGreaterThanOrEqual(6);
  expect(reads.length).toBeLessThanOrEqual(8);
  expect(new Set(reads.slice(1))).toEqual(new Set(['log after 5/1']));
});

test('an entry that comes later is noticed, and what it says ends with it', async () => {
  await process.tick();
  expect((await status()).state).toBe('off');
  tellOnce(psu);
  await until('error');
  machine.log = {
    last: '5/2',
    restarted: false,
    entries: [{ kind: 'over', about: 'psu', text: '' }],
  };
  machine.onCall = () => undefined;
  await until('off');
  expect(await status()).toMatchObject({ attempts: 0 });
  expect(world.said).toContain('m-1 hardware is well again');
});

test('a log that was cleared lifts it', async () => {
  tellOnce(psu);
  await process.tick();
  machine.onCall = () => undefined;
  machine.log = empty;
  await until('off');
});

test('somebody lifts it, and the same entry does not quarantine it again; a new one does', async () => {
  tellOnce(psu);
  await process.tick();
  expect((await status()).state).toBe('error');
  world.clock.pass(1000);
  expect(await process.ask({ machine: 'm-1', lift: true })).toMatchObject({ ok: true });
  await process.tick();
  expect((await status()).state).toBe('off');
  world.clock.pass(60 * minute);
  await process.tick();
  expect((await status()).state).toBe('off');
  machine.onCall = () => undefined;
  machine.log = { ...psu, last: '5/2', restarted: false };
  await until('error');
});

test('maintenance that ends lifts it as well', async () => {
  tellOnce(psu);
  await process.tick();
  const spec = '/baremetal/nodes/m-1/spec';
  const before = JSON.parse((await world.store.get(spec))?.value ?? '');
  const describe = (more: object) =>
    world.store.commit([], [{ put: spec, value: JSON.stringify({ ...before, ...more }) }]);
  await describe({ maintenance: true });
  await until('maintenance');
  await describe({ maintenance: false });
  await until('off');
  world.clock.pass(60 * minute);
  await process.tick();
  expect((await status()).state).toBe('off');
  // What comes later is another matter.
  machine.onCall = () => undefined;
  machine.log = { ...psu, last: '5/2', restarted: false };
  await until('error');
});

test('what is still wrong is not lifted', async () => {
  machine.sensors = { ...well, health: 'critical', problems: ['PSU 2 failed'] };
  await process.tick();
  world.clock.pass(1000);
  await process.ask({ machine: 'm-1', lift: true });
  world.clock.pass(minute);
  await process.tick();
  expect(await status()).toMatchObject({ state: 'error', lastError: { message: 'PSU 2 failed' } });
});

test('a machine that serves goes on serving, and it is reported', async () => {
  machine.power = 'on';
  tellOnce(psu);
  await process.tick();
  expect((await status()).state).toBe('joining');
  expect((await world.record('m-1')).metrics).toMatchObject({ health: 'critical' });
});

test('nobody can lift what is not there', async () => {
  await expect(process.ask({ machine: 'm-9', lift: true })).rejects.toThrow('no machine called m-9');
});
