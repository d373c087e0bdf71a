import { powerAction } from '../../functions/power-action/handler.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { Store } from '../../shared/ports/store.ts';
import { createLog } from '../../shared/process/log.ts';
import { encode } from '../../shared/state/codec.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { fc } from '../../tools/support/seeded.ts';
import {
  config,
  leaseOf,
  type MachineInput,
  machine,
  now,
  openInventory,
  powerOn,
  recordOf,
  revisionOf,
  settings,
} from './inventory-harness.ts';

let store: Store;
const opened: Store[] = [];
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

/** The test's own, closed after it. */
async function open(...args: Parameters<typeof openInventory>) {
  const { inventory } = await openInventory(...args);
  ({ store } = inventory);
  opened.push(store);
  return { inventory };
}

const keysIn = async (prefix: string) => (await store.list(prefix)).entries.map(({ key }) => key);

test('a file is written as it stands, in the keys that other tools read', async () => {
  await open(
    config([machine('m-1'), machine('m-2')], {
      autoscaler: { dryRun: true },
      pools: [{ name: 'rack', limits: { maxNodes: 2 } }, { name: 'spare' }],
    }),
  );
  const values = (await store.list('/baremetal/')).entries.map(({ key, value }) => [key, JSON.parse(value)]);
  expect(Object.fromEntries(values)).toEqual({
    '/baremetal/global/config': { v: 1, dryRun: true },
    '/baremetal/nodes/m-1/spec': { v: 1, ...machine('m-1') },
    '/baremetal/nodes/m-2/spec': { v: 1, ...machine('m-2') },
    '/baremetal/pools/rack/config': { v: 1, name: 'rack', limits: { maxNodes: 2 } },
    '/baremetal/pools/rack/members': { v: 1, machines: ['m-1', 'm-2'] },
    '/baremetal/pools/spare/config': { v: 1, name: 'spare' },
    '/baremetal/pools/spare/members': { v: 1, machines: [] },
  });
});

test('the same file again writes nothing', async () => {
  const file = config([machine('m-1'), machine('m-2')]);
  await open(file);
  const before = await revisionOf(store);
  expect(await loadInventory(store, structuredClone(file))).toMatchObject({
    machines: 2,
    changed: 0,
    kept: [],
  });
  expect(await revisionOf(store)).toBe(before);
});

test('machines and pools come, change and go; what is known of those that stay, stays', async () => {
  const { inventory } = await open(
    config([machine('stays'), machine('changes'), machine('goes', { pool: 'old' })], {
      pools: [{ name: 'rack' }, { name: 'old' }],
    }),
  );
  const status = { state: 'ready', stateSince: 1, powerState: 'on', attempts: 0 };
  for (const name of ['stays', 'goes'])
    await store.commit(
      [],
      (['status', 'metrics', 'events'] as const).map((part) => ({
        put: keys.node(name, part),
        value: encode(part === 'status' ? status : { entries: [] }),
      })),
    );
  const result = await loadInventory(
    store,
    config([machine('stays'), machine('changes', { rack: 'r-2' }), machine('comes')]),
  );
  // Two specs and the members of the pool.
  expect(result).toMatchObject({ machines: 3, changed: 3, kept: [] });
  const records = await inventory.machines();
  expect(records.map(({ spec, status: { state } }) => [spec.name, spec.rack, state])).toEqual([
    ['changes', 'r-2', 'off'],
    ['comes', undefined, 'off'],
    ['stays', undefined, 'ready'],
  ]);
  expect(await keysIn(`${keys.nodes}goes/`)).toEqual([]);
  expect((await inventory.pools()).map(({ name }) => name)).toEqual(['rack']);
});

test('a machine with an operation under way is kept and named, and so is its pool', async () => {
  const { inventory } = await open(
    config([machine('m-1', { pool: 'old' })], { pools: [{ name: 'old' }, { name: 'unused' }] }),
  );
  const lease = await leaseOf(store);
  const record = await recordOf(inventory);
  await applyEvent(inventory, record, { ...powerOn(record), lease, settings, now });

  const without = config([machine('m-2')]);
  expect(await loadInventory(store, without)).toMatchObject({ kept: ['m-1'] });
  expect((await recordOf(inventory)).status.operation).toBe('op-1');
  // Without its pool the operation would have no deadline.
  expect((await inventory.pools()).map(({ name }) => name)).toEqual(['old', 'rack']);

  const event = { type: 'failed', code: 'power-on-failed', message: 'no' } as const;
  await applyEvent(inventory, await recordOf(inventory), { event, by: 'test', lease, settings, now });
  expect(await loadInventory(store, without)).toMatchObject({ kept: [] });
  expect(await keysIn(`${keys.nodes}m-1/`)).toEqual([]);
  expect((await inventory.pools()).map(({ name }) => name)).toEqual(['rack']);
});

/** What somebody may change about a machine while it is being powered on. */
const edits = fc.record(
  {
    mgmtAddress: fc.constantFrom('https://other.example', 'https://m-2.example'),
    bmcCredentials: fc.constantFrom('other', 'another'),
    redfish: fc.constant({ system: '/redfish/v1/Systems/other' }),
    systemUUID: fc.uuid(),
    rack: fc.constantFrom('r-1', 'r-2'),
    resources: fc.constant({ cpu: 64, memory: '1Ti' }),
    maintenance: fc.boolean(),
  },
  { requiredKeys: ['mgmtAddress'] },
) as fc.Arbitrary<Partial<MachineInput> & { mgmtAddress: string }>;

test('fault 32: inventory edited during an operation → the operation keeps its own copy', async () => {
  const ports = { cluster: {} as Cluster, log: createLog({ level: 'silent', format: 'json' }) };
  await fc.assert(
    fc.asyncProperty(edits, async (edit) => {
      const { inventory } = await open();
      const lease = await leaseOf(store);
      const before = await recordOf(inventory);
      await applyEvent(inventory, before, { ...powerOn(before), lease, settings, now });
      await lease.release();
      await loadInventory(store, config([machine('m-1', edit)]));

      expect((await inventory.operation('op-1'))?.operation.spec).toEqual(before.spec);
      expect((await recordOf(inventory)).spec).toMatchObject({ mgmtAddress: edit.mgmtAddress });

      // Whoever carries it out talks to the BMC that was meant when it was decided.
      const asked: string[] = [];
      let power: 'on' | 'off' = 'off';
      let time = now;
      const act = powerAction({
        ...ports,
        inventory,
        owner: 'test',
        failpoint: () => undefined,
        sink: { emit: async () => undefined },
        clock: {
          now: () => time,
          monotonic: () => time,
          sleep: async (ms) => {
            time += ms;
          },
        },
        driverFor: async ({ mgmtAddress, bmcCredentials, options, systemUUID }) => {
          asked.push(JSON.stringify({ mgmtAddress, bmcCredentials, options, systemUUID }));
          return {
            capabilities: {
              status: true,
              softOff: true,
              hardOff: true,
              bootFromNetwork: false,
              sensors: false,
            },
            read: async () => ({ power }),
            set: async (verb) => {
              power = verb === 'on' ? 'on' : 'off';
            },
          };
        },
      });
      const signal = new AbortController().signal;
      await act({ machine: 'm-1' }, { trigger: 'test', id: 'test', signal });
      expect(power).toBe('on');
      expect(new Set(asked)).toEqual(new Set([JSON.stringify({ mgmtAddress: 'https://m-1.example' })]));
      expect((await recordOf(inventory)).status).toMatchObject({ state: 'joining', powerState: 'on' });
    }),
    { numRuns: 25 },
  );
});

test('somebody else who writes at the same time is not overwritten unseen', async () => {
  await open();
  const racing: Store = {
    ...store,
    get: (key) => store.get(key),
    list: async (prefix) => {
      const listed = await store.list(prefix);
      if (prefix === keys.nodes)
        await store.commit(
          [],
          [{ put: keys.node('m-1', 'spec'), value: encode(machine('m-1', { rack: 'x' })) }],
        );
      return listed;
    },
    commit: (conditions, writes) => store.commit(conditions, writes),
  };
  await expect(loadInventory(racing, config([machine('m-1', { rack: 'y' })]))).rejects.toThrow(
    `${keys.node('m-1', 'spec')} changed while the inventory was loaded: load it again`,
  );
});
