import { status } from '@grpc/grpc-js';
import { machine } from '../adapters/inventory-harness.ts';
import { closing } from '../support/cleanup.ts';
import { type Bench, drained, failed, joined, openBench, pool, poweredOff, poweredOn } from './harness.ts';

const open = async (...args: Parameters<typeof openBench>): Promise<Bench> =>
  closing(await openBench(...args));

const machines = ['m-1', 'm-2', 'm-3'].map((name) => machine(name));
const rack = { id: 'rack' };
const node = (name: string) => ({ name, providerID: `bamel://${name}` });
const instancesOf = async ({ caller }: Bench) =>
  (await caller.call('NodeGroupNodes', rack)).instances.map(({ id, status: { instanceState, errorInfo } }) =>
    [id, instanceState, ...(errorInfo ? [errorInfo.errorCode, errorInfo.instanceErrorClass] : [])].join(' '),
  );

test('growing adds exactly as many as asked for, begun and told of at once', async () => {
  const { caller, inventory, emitted, ...rest } = await open({ pools: [pool()], machines });
  expect(await caller.size('rack')).toBe(0);
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 2 });
  expect(await caller.size('rack')).toBe(2);
  const states = (await inventory.machines()).map(({ status: { state } }) => state);
  expect(states.sort()).toEqual(['off', 'powering-on', 'powering-on']);
  expect(emitted.map(({ type }) => type)).toEqual(['dev.bamel.power.requested', 'dev.bamel.power.requested']);
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  expect(await instancesOf({ caller, inventory, emitted, ...rest })).toEqual([
    'bamel://m-1 2',
    'bamel://m-2 2',
    'bamel://m-3 2',
  ]);
});

test('the machines are those that the policies prefer', async () => {
  const { caller, stateOf } = await open({
    pools: [pool('rack', { policies: ['watts'] })],
    machines: [
      machine('hungry', { watts: { idle: 200, max: 400 } }),
      machine('modest', { watts: { idle: 20, max: 60 } }),
    ],
  });
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  expect(await stateOf('modest')).toBe('powering-on');
  expect(await stateOf('hungry')).toBe('off');
});

test('beyond the maximum, or with nothing to power on, nothing is promised', async () => {
  const { caller, live } = await open({ pools: [pool('rack', { limits: { maxNodes: 2 } })], machines });
  await expect(caller.call('NodeGroupIncreaseSize', { ...rack, delta: 3 })).rejects.toMatchObject({
    code: status.OUT_OF_RANGE,
  });
  await expect(caller.call('NodeGroupIncreaseSize', { ...rack, delta: 0 })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  expect(await caller.size('rack')).toBe(0);
  for (const name of ['m-1', 'm-2', 'm-3']) await live(name, failed());
  await expect(caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 })).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    message: expect.stringContaining('nothing happened'),
  });
  expect(await caller.size('rack')).toBe(0);
});

test('what no machine is there for counts, as out of resources, until it is taken back', async () => {
  const opened = await open({ pools: [pool()], machines });
  const { caller, live } = opened;
  await live('m-3', failed());
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 3 });
  expect(await caller.size('rack')).toBe(3);
  const missing = (await instancesOf(opened)).filter((text) => text.includes('missing'));
  expect(missing).toEqual([expect.stringMatching(/^bamel-missing:\/\/\S+ 2 no-machine 1$/)]);
  const [id = ''] = missing[0]?.split(' ') ?? [];
  const fake = { nodes: [{ name: id, providerID: id }], ...rack };
  for (let time = 0; time < 2; time += 1) {
    await caller.call('NodeGroupDeleteNodes', fake);
    expect(await caller.size('rack')).toBe(2);
  }
});

test('a machine that fails is an instance with an error until it is deleted, and is not chosen before', async () => {
  const opened = await open({ pools: [pool()], machines });
  const { caller, live, stateOf } = opened;
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  await live('m-1', failed('the BMC said no'), [{ type: 'found-off' }, { powerState: 'off' }]);
  expect(await instancesOf(opened)).toEqual(['bamel://m-1 2 power-on-failed 99']);
  expect(await caller.size('rack')).toBe(1);
  const fake = { nodes: [{ name: 'bamel://m-1', providerID: 'bamel://m-1' }], ...rack };
  for (let time = 0; time < 2; time += 1) {
    await caller.call('NodeGroupDeleteNodes', fake);
    expect(await caller.size('rack')).toBe(0);
  }
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  expect(await stateOf('m-1')).toBe('off');
  expect(await stateOf('m-2')).toBe('powering-on');
});

test('deleting lowers the target before it returns, drains, and may be repeated', async () => {
  const opened = await open({ pools: [pool()], machines });
  const { caller, live, stateOf, emitted } = opened;
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 2 });
  for (const name of ['m-1', 'm-2']) await live(name, poweredOn, joined(name));
  expect(await instancesOf(opened)).toEqual(['bamel://m-1 1', 'bamel://m-2 1']);
  emitted.length = 0;
  for (let time = 0; time < 3; time += 1) {
    await caller.call('NodeGroupDeleteNodes', { nodes: [node('m-1')], ...rack });
    expect(await caller.size('rack')).toBe(1);
  }
  expect(await stateOf('m-1')).toBe('draining');
  expect(emitted.map(({ type }) => type)).toEqual(['dev.bamel.drain.requested']);
  expect(await instancesOf(opened)).toEqual(['bamel://m-1 3', 'bamel://m-2 1']);
  await live('m-1', drained, poweredOff);
  await caller.call('NodeGroupDeleteNodes', { nodes: [node('m-1')], ...rack });
  expect(await instancesOf(opened)).toEqual(['bamel://m-2 1']);
  // It is as free as before.
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 2 });
  expect(await caller.size('rack')).toBe(3);
});

test('a drain that is given up puts the machine back into the target', async () => {
  const { caller, live } = await open({ pools: [pool()], machines });
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  await live('m-1', poweredOn, joined('m-1'));
  await caller.call('NodeGroupDeleteNodes', { nodes: [node('m-1')], ...rack });
  await live('m-1', [{ type: 'drain-aborted', why: 'a pod may not move' }]);
  expect(await caller.size('rack')).toBe(1);
  await expect(caller.call('NodeGroupDeleteNodes', { nodes: [node('m-1')], ...rack })).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
  });
  expect(await caller.size('rack')).toBe(1);
});

test('a machine that is deleted while it boots is drained as soon as it has joined', async () => {
  const opened = await open({ pools: [pool()], machines });
  const { caller, live, stateOf } = opened;
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  await live('m-1', poweredOn);
  await caller.call('NodeGroupDeleteNodes', {
    nodes: [{ name: 'bamel://m-1', providerID: 'bamel://m-1' }],
    ...rack,
  });
  expect(await caller.size('rack')).toBe(0);
  expect(await instancesOf(opened)).toEqual(['bamel://m-1 3']);
  await live('m-1', joined('m-1'));
  expect(await caller.size('rack')).toBe(0);
  await caller.call('Refresh');
  expect(await stateOf('m-1')).toBe('draining');
});

test("another pool's node, or nobody's, is refused and nothing is changed", async () => {
  const { caller, live } = await open({
    pools: [pool(), pool('other'), { name: 'ours' }],
    machines: [...machines, machine('o-1', { pool: 'other' }), machine('x-1', { pool: 'ours' })],
  });
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 });
  await live('m-1', poweredOn, joined('m-1'));
  for (const stranger of ['o-1', 'x-1'])
    await expect(
      caller.call('NodeGroupDeleteNodes', { nodes: [node('m-1'), node(stranger)], ...rack }),
    ).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  await expect(
    caller.call('NodeGroupDeleteNodes', { nodes: [{ name: 'who', providerID: 'aws://1' }], ...rack }),
  ).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  expect(await caller.size('rack')).toBe(1);
});

test('the target goes down only by what has not begun; no machine is touched', async () => {
  const { caller, live, stateOf } = await open({ pools: [pool()], machines });
  await live('m-3', failed());
  await caller.call('NodeGroupIncreaseSize', { ...rack, delta: 3 });
  await expect(caller.call('NodeGroupDecreaseTargetSize', { ...rack, delta: -2 })).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
  });
  expect(await caller.size('rack')).toBe(3);
  await caller.call('NodeGroupDecreaseTargetSize', { ...rack, delta: -1 });
  expect(await caller.size('rack')).toBe(2);
  await expect(caller.call('NodeGroupDecreaseTargetSize', { ...rack, delta: 1 })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  expect([await stateOf('m-1'), await stateOf('m-2')]).toEqual(['powering-on', 'powering-on']);
});

test('replicas answer alike, and two that grow at once grow twice', async () => {
  const { caller, another } = await open({ pools: [pool()], machines });
  const other = await another();
  await Promise.all([caller, other].map((one) => one.call('NodeGroupIncreaseSize', { ...rack, delta: 1 })));
  expect([await caller.size('rack'), await other.size('rack')]).toEqual([2, 2]);
});

test('a dry run promises nothing', async () => {
  const { caller } = await open({ pools: [pool()], machines, autoscaler: { dryRun: true } });
  await expect(caller.call('NodeGroupIncreaseSize', { ...rack, delta: 1 })).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
  });
  expect(await caller.size('rack')).toBe(0);
});
