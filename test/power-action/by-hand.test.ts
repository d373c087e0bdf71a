import { requestPower } from '../../shared/by-hand/power.ts';
import type { Node } from '../../shared/core/cluster/cluster.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { node } from '../core/support/builders.ts';
import { find, startWorld, tickUntil, type World, type WorldOptions } from './harness.ts';

let world: World;
afterEach(() => world.close());

const put = async (name: string, parts: Partial<MachineStatus>): Promise<void> => {
  const { status } = await world.record(name);
  const key = `/baremetal/nodes/${name}/status`;
  await world.store.commit([], [{ put: key, value: JSON.stringify({ v: 1, ...status, ...parts }) }]);
};
const serving = { state: 'ready', powerState: 'on', kubernetesNode: 'm-1', nodeReady: true } as const;

async function start(options: WorldOptions = {}, status: Partial<MachineStatus> = {}): Promise<void> {
  world = await startWorld({ machines: [{ name: 'm-1' }, { name: 'm-2' }], ...options });
  await world.process().tick();
  await put('m-1', status);
  await put('m-2', { ...serving, kubernetesNode: 'm-2' });
}
const ask = (wish: Parameters<typeof requestPower>[2], nodes?: readonly Node[]) =>
  requestPower(
    {
      ...world.process().deps,
      cluster: nodes && ({ view: async () => ({ nodes, pods: [] }) } as never),
    },
    'm-1',
    { by: 'anna@desk', ...wish },
  );

test('on: an operation in the name of whoever asked, carried out by whoever runs', async () => {
  await start();
  const asked = await ask({ power: 'on' });
  expect(asked).toMatchObject({ ok: true, answer: 'm-1 is powering-on' });
  const { history, status } = await world.record('m-1');
  expect(history.at(-1)).toMatchObject({ by: 'anna@desk', event: 'power-on-requested' });
  expect(world.emitted.at(-1)?.type).toBe('dev.bamel.power.requested');
  await tickUntil(world, world.process(), async () => (await world.record('m-1')).status.state === 'joining');
  expect(status.operation).toBeDefined();
  expect(world.commands('m-1')).toEqual(['on']);
});

test('off: drained first', async () => {
  await start({}, serving);
  expect(await ask({ power: 'off' })).toMatchObject({ ok: true, answer: 'm-1 is draining' });
  expect(world.emitted.at(-1)?.type).toBe('dev.bamel.drain.requested');
});

test('off without a drain: cut, also while its node is Ready', async () => {
  await start({}, serving);
  find(world.machines, 'm-1').power = 'on';
  expect(await ask({ power: 'off', drain: false })).toMatchObject({
    ok: true,
    answer: 'm-1 is powering-off',
  });
  await tickUntil(world, world.process(), async () => (await world.record('m-1')).status.state === 'off');
  expect(world.commands('m-1')).toEqual(['soft-off']);
});

test.each<[string, WorldOptions, Partial<MachineStatus>, readonly Node[] | undefined, RegExp]>([
  [
    'protected by name',
    { autoscaler: { protect: ['name=m-1'] } },
    serving,
    undefined,
    /protected by name=m-1/,
  ],
  [
    'of the control plane',
    {},
    serving,
    [node('m-1', { labels: { 'node-role.kubernetes.io/control-plane': '' } }), node('other')],
    /protected by control-plane/,
  ],
  ['the last node of the cluster', {}, serving, [node('m-1')], /the last one that serves/],
  ['busy', {}, { ...serving, operation: 'op-1' }, undefined, /operation op-1 is under way/],
])('off is refused: %s', async (_what, options, status, nodes, why) => {
  await start(options, status);
  const asked = await ask({ power: 'off' }, nodes);
  expect(asked).toMatchObject({ ok: false, why: expect.stringMatching(why) });
  expect(world.commands('m-1')).toEqual([]);
});

test('the last machine that serves goes only if that is said', async () => {
  await start({}, serving);
  await put('m-2', { state: 'off' });
  expect(await ask({ power: 'off' })).toMatchObject({ ok: false });
  expect(await ask({ power: 'off', last: true })).toMatchObject({ ok: true });
});

test('what is so already is said, and nothing is begun', async () => {
  await start();
  expect(await ask({ power: 'off' })).toEqual({ ok: true, answer: 'm-1 is off already' });
  await put('m-1', serving);
  expect(await ask({ power: 'on' })).toMatchObject({ ok: true, answer: expect.stringContaining('already') });
  await put('m-1', { ...serving, state: 'draining', operation: 'op-1' });
  expect(await ask({ power: 'off' })).toMatchObject({
    ok: true,
    operation: 'op-1',
    answer: expect.stringContaining('on its way off already'),
  });
  expect((await world.store.list('/baremetal/operations/')).entries).toEqual([]);
});

test('through the function: POST /power-action {machine, power}', async () => {
  await start();
  const process = world.process();
  expect(await process.ask({ machine: 'm-1', power: 'on', by: 'anna' })).toMatchObject({ ok: true });
  await expect(process.ask({ machine: 'nobody', power: 'on' })).rejects.toThrow(
    'there is no machine called nobody',
  );
});
