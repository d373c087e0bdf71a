import type { PowerDriver } from '../../../shared/ports/power.ts';
import { nodes, pods } from '../../../simulator/lab/api/resource-types.ts';
import type { Judge } from '../../../simulator/lab/liqo/provider.ts';
import { resourceSlices, virtualNodes } from '../../../simulator/lab/liqo/types.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { failing, patient } from '../harness.ts';
import { type LiqoWorld, provider, startLiqoWorld, tenant } from './liqo-world.ts';

let world: LiqoWorld;
afterEach(() => world.close());

const begin = async (judge?: Judge): Promise<PowerDriver> => {
  world = await startLiqoWorld(judge);
  return world.driver();
};
const neighbour = () => world.liqo.provider(provider);
const reads = (driver: PowerDriver, reading: object) =>
  eventually(async () => expect(await driver.read(patient())).toMatchObject(reading));
const isSilent = (driver: PowerDriver) =>
  eventually(async () =>
    expect((await driver.sense?.(patient()))?.problems).toEqual([
      expect.stringContaining(`provider ${provider} does not answer`),
    ]),
  );

test('a slice is asked for with what the machine is to have, and is on once it is granted', async () => {
  const driver = await begin();
  expect(await driver.read(patient())).toEqual({ power: 'off', exists: false });
  await world.on(driver);
  const { metadata, spec } = world.store.find(resourceSlices, tenant, 'lent-1');
  expect(spec).toMatchObject({
    class: 'default',
    providerClusterID: provider,
    resources: { cpu: '2500m', memory: String(4 * 2 ** 30), pods: '20' },
  });
  expect(metadata).toMatchObject({
    labels: {
      'bamel.dev/machine': 'lent-1',
      'liqo.io/remote-cluster-id': provider,
      'liqo.io/remoteID': provider,
      'liqo.io/replication': 'true',
    },
    annotations: { 'liqo.io/create-virtual-node': 'true' },
  });
  expect(await driver.read(patient())).toMatchObject({ power: 'on', resources: world.spec.resources });
  expect(await driver.sense?.(patient())).toEqual({ health: 'ok', problems: [] });
});

describe('off', () => {
  test('trap: the slice gone is not off while VirtualNode and Node are there', async () => {
    const driver = await begin();
    await world.on(driver);
    const { store } = world;
    // As long as a pod does not go, the node stays, and the pod runs on over there.
    store.create(pods, {
      metadata: { name: 'busy', namespace: 'default' },
      spec: { nodeName: 'lent-1', containers: [{ name: 'c', image: 'i' }] },
    });
    await driver.set('soft-off', patient(), 'op');
    await eventually(() => expect(world.there()).toEqual(['virtual-node', 'node']));
    expect((await driver.read(patient())).power).toBe('unknown');
    store.delete(pods, 'default', 'busy', { gracePeriodSeconds: 0 });
    await reads(driver, { power: 'off', exists: false });
    expect(world.there()).toEqual([]);
  });

  test('trap: the VirtualNode alone, deleted, comes back: it is the slice that is deleted', async () => {
    const driver = await begin();
    await world.on(driver);
    world.store.delete(virtualNodes, tenant, 'lent-1');
    expect((await driver.read(patient())).power).not.toBe('off');
    await driver.set('hard-off', patient(), 'op');
    await reads(driver, { power: 'off', exists: false });
    expect(world.writes.filter((write) => write.includes('virtualnodes'))).toEqual([]);
  });

  test('trap: a slice that hangs on its finalizer is neither on nor off until its provider is back', async () => {
    const driver = await begin();
    await world.on(driver);
    neighbour().setReachable(false);
    await driver.set('soft-off', patient(), 'op');
    expect(await driver.read(patient())).toMatchObject({ power: 'unknown', exists: true });
    await isSilent(driver);
    await driver.set('hard-off', patient(), 'op');
    expect(await driver.read(patient())).toMatchObject({ power: 'unknown' });
    expect(world.writes.filter((write) => write.startsWith('DELETE'))).toHaveLength(1);
    neighbour().setReachable(true);
    await reads(driver, { power: 'off', exists: false });
    expect(neighbour().slices.size).toBe(0);
  });

  test('a name whose slice is still being deleted is not used', async () => {
    const driver = await begin();
    await world.on(driver);
    neighbour().setReachable(false);
    await driver.set('soft-off', patient(), 'op');
    expect(await failing(() => driver.set('on', patient(), 'op-2'))).toMatchObject({
      code: 'busy',
      message: expect.stringContaining('still being deleted'),
    });
    neighbour().setReachable(true);
  });
});

describe('an outage', () => {
  test('trap: an accepted slice of a provider that does not answer is unknown, never off', async () => {
    const driver = await begin();
    await world.on(driver);
    neighbour().setReachable(false);
    await isSilent(driver);
    expect(await driver.read(patient())).toMatchObject({
      power: 'unknown',
      unclear: expect.stringContaining(provider),
    });
    expect((await driver.sense?.(patient()))?.health).toBe('warning');
    neighbour().setReachable(true);
    await reads(driver, { power: 'on' });
  });

  test('trap: Node=Running of the VirtualNode is no Node: only what is there counts', async () => {
    const driver = await begin();
    await world.on(driver);
    neighbour().setReachable(false);
    world.store.delete(nodes, undefined, 'lent-1');
    const running = world.store.get(virtualNodes, tenant, 'lent-1')?.status?.conditions;
    expect(running).toContainEqual(expect.objectContaining({ type: 'Node', status: 'Running' }));
    await isSilent(driver);
    expect((await driver.read(patient())).power).toBe('unknown');
    neighbour().setReachable(true);
  });

  test('a slice that nobody has answered to holds nothing: it is off, there, and can be given back', async () => {
    const driver = await begin();
    world.liqo.peer(provider);
    neighbour().setReachable(false);
    await driver.set('on', patient(), 'op');
    expect(await driver.read(patient())).toEqual({ power: 'off', exists: true });
    neighbour().setReachable(true);
    await reads(driver, { power: 'on' });
  });
});

describe('a provider that says no', () => {
  const denies: Judge = () => ({ denied: { reason: 'TooMuch', message: 'no more than 2 cores today' } });

  test('trap: denied is not final for Liqo, so the slice is deleted, and the reason is told', async () => {
    const driver = await begin(denies);
    // On a slow machine the answer may come after the glance: then it is the next command that finds it.
    const error = await eventually(() => failing(() => driver.set('on', patient(), 'op')));
    expect(error).toMatchObject({ code: 'denied', final: true });
    expect(error.message).toContain('TooMuch: no more than 2 cores today');
    await reads(driver, { power: 'off', exists: false });
    // Un-cordoned, nothing comes to life.
    neighbour().setJudge((asked) => ({ granted: { ...asked } }));
    await reads(driver, { power: 'off', exists: false });
    expect(world.there()).toEqual([]);
  });

  test('trap: a provider that drains its tenant leaves our node Ready: that is told, and it can be given back', async () => {
    const driver = await begin();
    await world.on(driver);
    neighbour().setTenant('Drained');
    await eventually(async () => expect((await driver.sense?.(patient()))?.health).toBe('critical'));
    expect((await driver.sense?.(patient()))?.problems).toEqual([
      expect.stringContaining('ResourceSliceResourcesDenied'),
    ]);
    expect(world.there()).toContain('node');
    expect((await driver.read(patient())).power).toBe('on');
    await driver.set('soft-off', patient(), 'op');
    await reads(driver, { power: 'off', exists: false });
  });

  test('a slice that was never granted is given back, and is gone then', async () => {
    const driver = await begin(() => undefined);
    world.liqo.peer(provider);
    await driver.set('on', patient(), 'op');
    expect(await driver.read(patient())).toEqual({ power: 'off', exists: true });
    await driver.release?.(patient());
    expect(world.there()).toEqual([]);
    expect(await driver.read(patient())).toEqual({ power: 'off', exists: false });
  });

  test('what has a node after all is not given back', async () => {
    const driver = await begin();
    await world.on(driver);
    expect(await failing(async () => driver.release?.(patient()))).toMatchObject({ code: 'refused' });
    expect(world.there()).toEqual(['slice', 'virtual-node', 'node']);
  });
});
