import { status } from '@grpc/grpc-js';
import type { Offer } from '../../shared/core/remote/offer.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { machine } from '../adapters/inventory-harness.ts';
import { type Bench, drained, joined, openBench, pool, poweredOff, poweredOn } from './harness.ts';

const GiB = 2 ** 30;
const hour = { startTimestamp: { seconds: 3_600 }, endTimestamp: { seconds: 7_200 } };
const lent = { id: 'lent' };

const offer = (provider: string, cores: number, price: number, more: Partial<Offer> = {}): Offer => ({
  id: `${provider}.spare`,
  provider,
  class: 'default',
  resources: { cpu: cores * 1000, memory: cores * 4 * GiB },
  price: { cpu: price },
  validUntil: Date.now() + 3_600_000,
  endpoint: `https://${provider}.example/discovery`,
  ...more,
});

const lentPool = (more: object = {}) =>
  pool('lent', {
    template: { provider: 'liqo', maxSize: { cpu: 4, memory: '16Gi' } },
    ...more,
  });

let bench: Bench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

/** Offers as discovery leaves them in the store. */
async function open(offers: readonly Offer[], more: object = {}): Promise<Bench> {
  const opened = await openBench({ pools: [lentPool(more), pool()], machines: [machine('m-1')] });
  bench = opened;
  await publish(opened, offers);
  return opened;
}

async function publish({ store, caller }: Bench, offers: readonly Offer[]): Promise<void> {
  await store.commit(
    [],
    offers.map((one) => ({ put: keys.offer(one.id), value: encode({ offer: one, serial: 1 }) })),
  );
  if (offers.length > 0) await eventually(() => caller.call('NodeGroupTemplateNodeInfo', lent), 30_000);
}

const group = async ({ caller }: Bench) =>
  (await caller.call('NodeGroups')).nodeGroups.find(({ id }) => id === 'lent');
const slices = async ({ inventory }: Bench) =>
  (await inventory.machines()).filter(({ spec }) => spec.offer !== undefined);

test('a pool of offers is a node group: as large as offers lend, its template that of the best', async () => {
  const one = await open([
    offer('cheap', 9, 0.01, { labels: { 'example.com/tier': 'lent' }, region: 'eu' }),
    offer('dear', 8, 0.03),
    // Less than a whole one is not counted on.
    offer('small', 2, 0.001),
    offer('old', 64, 0.001, { validUntil: Date.now() - 1 }),
  ]);
  expect(await group(one)).toMatchObject({ minSize: 0, maxSize: 2 + 2 });
  const { nodeBytes } = await one.caller.call('NodeGroupTemplateNodeInfo', lent);
  expect(nodeBytes).toMatchObject({
    metadata: {
      labels: {
        'liqo.io/remote-cluster-id': 'cheap',
        'liqo.io/type': 'virtual-node',
        'topology.kubernetes.io/region': 'eu',
        'example.com/tier': 'lent',
      },
    },
    spec: { taints: [{ key: 'virtual-node.liqo.io/not-allowed', value: 'true', effect: 'NoExecute' }] },
    status: { allocatable: { cpu: { string: '4000m' }, memory: { string: String(16 * GiB) } } },
  });
  const { price } = await one.caller.call('PricingNodePrice', {
    node: { name: 'template-lent', providerID: '' },
    ...hour,
  });
  expect(price).toBeCloseTo(4 * 0.01);
});

test('without an offer there is nothing to describe, and none to be had', async () => {
  const one = await open([]);
  expect(await group(one)).toMatchObject({ maxSize: 0 });
  await expect(one.caller.call('NodeGroupTemplateNodeInfo', lent)).rejects.toMatchObject({
    code: status.UNIMPLEMENTED,
    details: expect.stringContaining('bamel offers list'),
  });
  await expect(one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 })).rejects.toMatchObject({
    code: status.OUT_OF_RANGE,
  });
});

test('more size is slices of the cheapest offer, all of one size; then of the next', async () => {
  const one = await open([offer('dear', 8, 0.03), offer('cheap', 9, 0.01), offer('small', 2, 0.001)]);
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 });
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 2 });
  expect(await one.caller.size('lent')).toBe(3);
  const made = await slices(one);
  expect(made.map(({ spec }) => spec.offer).sort()).toEqual(['cheap.spare', 'cheap.spare', 'dear.spare']);
  expect(made.map(({ spec }) => spec.resources.cpu)).toEqual([4000, 4000, 4000]);
  expect(made.map(({ status: { state } }) => state)).toEqual(['powering-on', 'powering-on', 'powering-on']);
  const ids = (await one.caller.call('NodeGroupNodes', lent)).instances.map(({ id }) => id).sort();
  expect(ids).toEqual(made.map(({ spec }) => spec.providerID).sort());
  expect(ids[0]).toMatch(/^liqo:\/\/cheap\/lent-cheap-/);
});

test('the budget of an hour bounds the group', async () => {
  const one = await open([offer('cheap', 64, 0.01)], { limits: { hourlyCost: 0.09 } });
  expect(await group(one)).toMatchObject({ maxSize: 2 });
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 2 });
  expect(await group(one)).toMatchObject({ maxSize: 2 });
  await expect(one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 })).rejects.toMatchObject({
    code: status.OUT_OF_RANGE,
  });
});

test('a deleted node is drained and given back; asked again, nothing happens', async () => {
  const one = await open([offer('cheap', 8, 0.01)]);
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 });
  const [made] = await slices(one);
  const { name = '', providerID = '' } = made?.spec ?? {};
  await one.live(name, poweredOn, joined(name, providerID));
  await one.caller.call('NodeGroupDeleteNodes', { ...lent, nodes: [{ name, providerID }] });
  expect(await one.stateOf(name)).toBe('draining');
  expect(await one.caller.size('lent')).toBe(0);
  await one.live(name, drained, poweredOff);
  await one.store.commit(
    [],
    (['spec', 'status', 'events'] as const).map((part) => ({ delete: keys.node(name, part) })),
  );
  await eventually(async () => expect(await slices(one)).toEqual([]), 30_000);
  await one.caller.call('NodeGroupDeleteNodes', { ...lent, nodes: [{ name, providerID }] });
  expect(await one.caller.size('lent')).toBe(0);
});

test('a lender whose slice is silent is not asked for more', async () => {
  const one = await open([offer('cheap', 8, 0.01), offer('dear', 8, 0.03)]);
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 });
  const [made] = await slices(one);
  const { name = '', providerID = '' } = made?.spec ?? {};
  const [event, seen] = joined(name, providerID);
  await one.live(name, poweredOn, [event, { ...seen, nodeReady: true }]);
  expect(await group(one)).toMatchObject({ maxSize: 4 });
  const record = await one.inventory.machine(name);
  await one.store.commit(
    [],
    [{ put: keys.node(name, 'status'), value: encode({ ...record?.status, nodeReady: false }) }],
  );
  await eventually(async () => expect(await group(one)).toMatchObject({ maxSize: 1 + 2 }), 30_000);
  await one.caller.call('NodeGroupIncreaseSize', { ...lent, delta: 1 });
  expect((await slices(one)).map(({ spec }) => spec.offer).sort()).toEqual(['cheap.spare', 'dear.spare']);
});
