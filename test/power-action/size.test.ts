import { PowerError } from '../../shared/ports/power.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { find, startWorld, tickUntil, type World } from './harness.ts';

let world: World;
afterEach(() => world.close());

const GiB = 2 ** 30;
const lent = { name: 'lent-1', made: true, offer: 'neighbour.cheap' };
const asked = { cpu: 4_000, memory: 16 * GiB };
const machine = () => find(world.machines, 'lent-1');
const record = (): Promise<MachineRecord> => world.record('lent-1');

/** A slice that its provider has granted, joining. */
async function powered(granted?: Readonly<Record<string, number>>): Promise<void> {
  world = await startWorld({ machines: [lent] });
  machine().identity = { resources: granted };
  await world.begin('lent-1', 'on');
  const process = world.process();
  await tickUntil(world, process, async () => (await record()).status.state === 'joining');
}

/** Its description gets another size, as an evaluation would write it. */
async function grow(cpu: number): Promise<void> {
  const { input } = await record();
  const value = JSON.stringify({ v: 1, ...input, resources: { ...input.resources, cpu } });
  await world.store.commit([], [{ put: '/baremetal/nodes/lent-1/spec', value }]);
}

test('what was granted in full stays as it was described', async () => {
  await powered(asked);
  const { spec, revisions } = await record();
  expect(spec.resources).toEqual(asked);
  expect(revisions.spec).toBeLessThan(revisions.status);
  expect(world.said).not.toContain('lent-1 machine is smaller than asked for');
});

test('a partial grant is what it has from then on, before anybody counts on the rest', async () => {
  await powered({ cpu: 1_500, memory: 16 * GiB });
  const { spec } = await record();
  expect(spec).toMatchObject({
    resources: { cpu: 1_500, memory: 16 * GiB },
    made: true,
    offer: 'neighbour.cheap',
  });
  expect(world.said).toContain('lent-1 machine is smaller than asked for');
});

test('more than was asked for is not counted on', async () => {
  await powered({ cpu: 64_000, memory: 16 * GiB });
  expect((await record()).spec.resources).toEqual(asked);
});

test('a grant that answers to the size of before does not undo another wish', async () => {
  world = await startWorld({ machines: [lent] });
  machine().identity = { resources: { cpu: 2_000, memory: 16 * GiB } };
  await world.begin('lent-1', 'on');
  await grow(8);
  const process = world.process();
  await tickUntil(world, process, async () => (await record()).status.state === 'joining');
  expect((await record()).spec.resources.cpu).toBe(8_000);
});

test('another size is asked for as soon as its description has one, by the same machine', async () => {
  await powered(asked);
  const process = world.process();
  await process.tick();
  const before = world.commands('lent-1').length;
  await grow(8);
  machine().identity = { outgrown: true };
  machine().obey = () => {
    machine().identity = { resources: { cpu: 8_000, memory: 16 * GiB } };
  };
  await process.tick('lent-1');
  expect(world.commands('lent-1').slice(before)).toEqual(['on']);
  expect(world.said).toContain('lent-1 machine is resized');
  await process.tick('lent-1');
  expect(world.commands('lent-1').slice(before)).toEqual(['on']);
  expect((await record()).spec.resources.cpu).toBe(8_000);
});

test('a warm process notices the other size with its next tick', async () => {
  await powered(asked);
  const process = world.process();
  const looks = machine().calls.length;
  await tickUntil(world, process, () => machine().calls.length > looks);
  await grow(8);
  machine().identity = { outgrown: true };
  machine().obey = () => undefined;
  await process.tick();
  expect(world.commands('lent-1').at(-1)).toBe('on');
  expect(world.said).toContain('lent-1 machine is resized');
});

test('a resize that is granted in part is cut to that; one that cannot be asked for is tried again', async () => {
  await powered(asked);
  const process = world.process();
  await process.tick();
  await grow(8);
  machine().identity = { outgrown: true };
  machine().onCall = (what) => {
    if (what === 'on') throw new PowerError('timeout', 'lent-1: there was no answer in time');
  };
  await process.tick('lent-1');
  expect(world.said).toContain('lent-1 machine is not resized');
  expect((await record()).spec.resources.cpu).toBe(8_000);
  machine().onCall = () => undefined;
  machine().obey = () => {
    machine().identity = { resources: { cpu: 5_000, memory: 16 * GiB } };
  };
  await tickUntil(world, process, async () => (await record()).spec.resources.cpu === 5_000);
  expect((await record()).status.state).toBe('joining');
});

test('a machine that is leaving is not resized', async () => {
  await powered(asked);
  const process = world.process();
  const { status } = await record();
  const leaving = JSON.stringify({ v: 1, ...status, state: 'draining' });
  await world.store.commit([], [{ put: '/baremetal/nodes/lent-1/status', value: leaving }]);
  await grow(8);
  machine().identity = { outgrown: true };
  const { length: looks } = machine().calls;
  await tickUntil(world, process, () => machine().calls.length > looks);
  expect(machine().calls.slice(looks)).toEqual([expect.objectContaining({ what: 'read' })]);
});

test('what its provider says of a slice is asked with every look: its node does not show it', async () => {
  await powered(asked);
  machine().sensors = { health: 'ok', problems: [] };
  const process = world.process();
  const times = (what: string) => machine().calls.filter((call) => call.what === what).length;
  const before = times('read');
  await tickUntil(world, process, () => times('read') >= before + 3);
  expect(times('sense')).toBe(times('read') - before);
  machine().sensors = { health: 'critical', problems: ['withdrawn'] };
  const { length: looks } = machine().calls;
  await tickUntil(world, process, () => machine().calls.length > looks);
  expect((await record()).metrics).toMatchObject({ health: 'critical', problems: ['withdrawn'] });
});
