import type { Store } from '../../shared/ports/store.ts';
import { encode } from '../../shared/state/codec.ts';
import type { Inventory } from '../../shared/state/inventory.ts';
import { keys } from '../../shared/state/keys.ts';
import { config, machine, now, openInventory } from './inventory-harness.ts';

let store: Store;
let inventory: Inventory;
beforeEach(async () => {
  ({ store, inventory } = await openInventory(config([machine('m-1'), machine('m-10')])));
});
afterEach(() => store.close());

const put = (key: string, value: string) => store.commit([], [{ put: key, value }]);

test('a machine nobody has looked at yet is off as far as is known, which is nothing', async () => {
  expect(await inventory.machine('m-1')).toMatchObject({
    spec: { name: 'm-1', resources: { cpu: 4000 } },
    input: { name: 'm-1', resources: { cpu: 4 } },
    status: { state: 'off', stateSince: now, powerState: 'unknown', attempts: 0 },
    metrics: {},
    history: [],
    revisions: { status: 0, metrics: 0, events: 0 },
  });
});

test('all parts, with the revisions that a compare-and-swap needs', async () => {
  const status = { state: 'ready', stateSince: 1, powerState: 'on', attempts: 0 };
  const entry = { at: 1, by: 'test', event: 'joined', from: 'joining', to: 'ready' };
  await put(keys.node('m-1', 'status'), encode(status));
  await put(keys.node('m-1', 'metrics'), encode({ idleSince: 7 }));
  await put(keys.node('m-1', 'events'), encode({ entries: [entry] }));
  const record = await inventory.machine('m-1');
  expect(record).toMatchObject({ status, metrics: { idleSince: 7 }, history: [entry] });
  for (const part of ['spec', 'status', 'metrics', 'events'] as const)
    expect(record?.revisions[part]).toBe((await store.get(keys.node('m-1', part)))?.revision);
});

test('one machine is not mistaken for another whose name begins like its own', async () => {
  expect((await inventory.machine('m-1'))?.spec.name).toBe('m-1');
  expect(await inventory.machine('m')).toBeUndefined();
  expect((await inventory.machines()).map(({ spec }) => spec.name)).toEqual(['m-1', 'm-10']);
});

test('what is left of a machine that is no longer described is no machine', async () => {
  await put(keys.node('ghost', 'status'), encode({ state: 'ready' }));
  expect(await inventory.machine('ghost')).toBeUndefined();
  expect((await inventory.machines()).map(({ spec }) => spec.name)).toEqual(['m-1', 'm-10']);
});

test('nothing configured: the defaults; nothing decided or done: nothing', async () => {
  await store.commit([], [{ delete: keys.global('config') }]);
  expect(await inventory.settings()).toMatchObject({ protect: ['control-plane'], dryRun: false });
  expect(await inventory.operation('op-none')).toBeUndefined();
  expect(await inventory.decision('d-none')).toBeUndefined();
});

/** Every kind of value, and who reads it. */
const places: [key: string, read: () => Promise<unknown>][] = [
  [keys.node('m-1', 'spec'), () => inventory.machine('m-1')],
  [keys.node('m-1', 'status'), () => inventory.machines()],
  [keys.node('m-1', 'metrics'), () => inventory.machines()],
  [keys.node('m-1', 'events'), () => inventory.machines()],
  [keys.pool('rack', 'config'), () => inventory.pools()],
  [keys.global('config'), () => inventory.settings()],
  [keys.operation('op-1'), () => inventory.operation('op-1')],
  [keys.decision('d-1'), () => inventory.decision('d-1')],
];

describe.each(places)('what cannot be read is named: %s', (key, read) => {
  test.each([
    ['not JSON', '{"v":1', 'is not JSON: restore it from a backup, or delete it'],
    ['of another version', '{"v":2,"name":"m-1"}', 'has format 2, this version reads 1: upgrade it'],
    ['of no version', '{}', 'has format undefined, this version reads 1: upgrade it'],
    ['no object', 'null', 'has format undefined, this version reads 1: upgrade it'],
  ])('%s', async (_, value, message) => {
    await put(key, value);
    await expect(read()).rejects.toThrow(`${key} in the store ${message}`);
  });
});

test.each([
  [keys.node('m-1', 'spec'), { ...machine('m-1'), resources: { cpu: 'many', memory: 1 } }, 'resources.cpu'],
  [keys.pool('rack', 'config'), { name: 'rack', provisionTimeout: 'soon' }, 'provisionTimeout'],
  [keys.global('config'), { dryRun: 'maybe' }, 'dryRun'],
])('a mistake in %s is told with its field', async (key, value, field) => {
  await put(key, encode(value));
  const reads = [inventory.machines(), inventory.pools(), inventory.settings()];
  const problems = (await Promise.allSettled(reads)).filter(({ status }) => status === 'rejected');
  expect(problems).toMatchObject([{ reason: { message: expect.stringContaining(`${key} in the store`) } }]);
  expect(problems).toMatchObject([{ reason: { message: expect.stringContaining(field) } }]);
});
