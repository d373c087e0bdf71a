import { type FailpointName, failpoints, onDemandFailpoints } from '../../shared/process/failpoints.ts';
import { find, startWorld, tickUntil, type World, type WorldOptions } from './harness.ts';

const minute = 60_000;
let world: World;
afterEach(() => world.close());

const options: WorldOptions = { machines: [{ name: 'vm-1', made: true }] };
const keysOf = async (name: string): Promise<string[]> =>
  (await world.store.list(`/baremetal/nodes/${name}/`)).entries.map(({ key }) => key);
const operationEnds = async (): Promise<string[]> =>
  (await world.store.list('/baremetal/operations/')).entries.map(({ value }) => JSON.parse(value).end);

/** Made, running, and told to go. */
async function aboutToGo(): Promise<void> {
  world = await startWorld(options);
  find(world.machines, 'vm-1').power = 'on';
  await world.process().tick();
  await world.begin('vm-1', 'off');
}

test('off, given back, and its record goes with the end of its operation', async () => {
  await aboutToGo();
  await tickUntil(world, world.process(), async () => (await keysOf('vm-1')).length === 0);
  expect(world.commands('vm-1')).toEqual(['soft-off', 'release']);
  expect(find(world.machines, 'vm-1').exists).toBe(false);
  expect(await operationEnds()).toEqual(['done']);
});

test('is never given back while it is on', async () => {
  await aboutToGo();
  find(world.machines, 'vm-1').obey = () => undefined;
  const process = world.process();
  await tickUntil(world, process, async () => (await world.record('vm-1')).status.state === 'error');
  expect(world.commands('vm-1')).not.toContain('release');
});

test('while its Node is there the record stays; at rest it is begun again, and ends', async () => {
  await aboutToGo();
  const process = world.process();
  const { status } = await world.record('vm-1');
  const withNode = JSON.stringify({ v: 1, ...status, kubernetesNode: 'vm-1', nodeReady: false });
  await world.store.commit([], [{ put: '/baremetal/nodes/vm-1/status', value: withNode }]);
  await process.tick();
  expect((await world.record('vm-1')).status).toMatchObject({ state: 'off', kubernetesNode: 'vm-1' });
  await tickUntil(world, process, async () => (await keysOf('vm-1')).length === 0);
  expect(await operationEnds()).toEqual(['done', 'done']);
});

test('one that never came to be is given back too', async () => {
  world = await startWorld(options);
  const machine = find(world.machines, 'vm-1');
  machine.exists = false;
  machine.obey = () => {
    machine.exists = true;
  };
  const process = world.process();
  await tickUntil(world, process, async () => (await keysOf('vm-1')).length === 0);
  expect(await operationEnds()).toEqual(['done']);
});

describe('killed at any step, nothing is orphaned', () => {
  const passed: readonly FailpointName[] = [
    ...failpoints.filter((name) => /^power-.*off$/.test(name)),
    ...onDemandFailpoints,
  ];
  test.each(passed)('fault 5: killed at %s', async (failpoint) => {
    await aboutToGo();
    let killed = 0;
    const doomed = world.process((name) => {
      if (name !== failpoint) return;
      killed += 1;
      throw new Error('killed');
    });
    await expect(tickUntil(world, doomed, () => false)).rejects.toThrow('killed');
    expect(killed).toBe(1);
    await tickUntil(world, world.process(), async () => (await keysOf('vm-1')).length === 0);
    expect(find(world.machines, 'vm-1').exists).toBe(false);
    expect(await operationEnds()).toEqual(['done']);
    expect(new Set(world.commands('vm-1'))).toEqual(new Set(['soft-off', 'release']));
  });
});

describe('strays', () => {
  const pools = [{ name: 'rack', template: { provider: 'redfish', namePrefix: 'vm' } }];

  test('what nobody has a record of is given back, but not before it has been so for a while', async () => {
    world = await startWorld({ ...options, pools });
    const guests = ['vm-1', 'stray', 'young'];
    const released: string[] = [];
    world.strays = async (isKnown) => {
      const gone = guests.filter((name) => !isKnown(name) && !released.includes(name));
      released.push(...gone);
      return { released: gone, running: [] };
    };
    find(world.machines, 'vm-1').power = 'on';
    const process = world.process();
    await process.tick();
    world.clock.pass(4 * minute);
    await process.tick();
    expect(released).toEqual([]);
    // Its record came late: it was being made when it was first seen.
    const spec = {
      name: 'young',
      pool: 'rack',
      powerInterface: 'redfish',
      resources: { cpu: 1, memory: '1Gi' },
    };
    const put = '/baremetal/nodes/young/spec';
    await world.store.commit([], [{ put, value: JSON.stringify({ v: 1, ...spec }) }]);
    world.machines.set('young', { ...find(world.machines, 'vm-1') });
    world.clock.pass(2 * minute);
    await process.tick();
    expect(released).toEqual(['stray']);
    expect(world.said).toContain('orphaned machines found');
  });
});
