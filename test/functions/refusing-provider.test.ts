import type { Credentials } from '../../shared/ports/power.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { labConfig } from '../../simulator/lab/config.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { ProxmoxFake } from '../drivers/proxmox/proxmox-fake.ts';
import { type HostWorld, startHostWorld } from './host-harness.ts';

const maxNodes = 3;
const machine = { name: 'always-on', cpu: 1, memory: '1Gi', pool: 'metal', bootSeconds: 1 };
const token = { tokenId: 'bamel@pve!scaler', tokenSecret: 'canary-9f3c' };

let pve: ProxmoxFake;
let world: HostWorld;
let secret: Credentials | undefined;
afterEach(async () => {
  await world?.close();
  await pve?.close();
});

const configOf = (options: object): Partial<ConfigInput> => ({
  pools: [
    { name: 'metal' },
    {
      name: 'vms',
      limits: { maxNodes },
      template: {
        provider: 'proxmox',
        mgmtAddress: pve.url,
        bmcCredentials: 'pve',
        options: { vmIDRange: { lower: 1250, upper: 1259 }, ...options },
      },
    },
  ],
});

async function start(options: object = {}): Promise<void> {
  pve = await new ProxmoxFake().start();
  await begin(options);
}

async function begin(options: object = {}): Promise<void> {
  world = await startHostWorld(
    [machine],
    configOf(options),
    (people) => people.deploy('web', 30, { cpu: '1', memory: '1Gi' }),
    async (name) => (name === 'pve' ? secret : undefined),
  );
}

const records = async (): Promise<string[]> =>
  (await world.store.list('/baremetal/nodes/')).entries
    .filter(({ key }) => key.endsWith('/spec') && key.includes('/vms-'))
    .map(({ key }) => key);

const lastDecision = async (): Promise<string> => {
  const { entries } = await world.store.list('/baremetal/decisions/');
  return entries.at(-1)?.value ?? '';
};
const limitCodes = async (): Promise<string[]> =>
  (JSON.parse(await lastDecision()).reasons?.limits ?? []).map(({ code }: { code: string }) => code);

/** As in minutes of a cluster: whatever wakes the functions, they have been woken by it many times. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    await world.post('/evaluate-scaling', {});
    await world.post('/power-action', {});
  }
}

test('credentials that are not there: nothing is made, nothing is called, and the reason is given', async () => {
  secret = undefined;
  await start();
  await rounds(10);
  expect(await records()).toEqual([]);
  expect(pve.calls).toEqual([]);
  expect(await limitCodes()).toContain('provider-backed-off');

  secret = token;
  await eventually(async () => {
    await rounds(1);
    expect(pve.vms.size).toBe(maxNodes);
  }, 60_000);
}, 120_000);

test('an option that does not exist: nothing is made', async () => {
  secret = token;
  await start({ vmidRange: 5 });
  await rounds(10);
  expect(await records()).toEqual([]);
  expect(pve.calls).toEqual([]);
  expect(await limitCodes()).toContain('provider-backed-off');
}, 120_000);

test('a refused token is tried once, for all machines, until the Secret changes', async () => {
  secret = { ...token, tokenSecret: 'wrong' };
  await start();
  await rounds(10);
  expect(await records()).toEqual([]);
  expect(pve.calls).toHaveLength(1);

  secret = token;
  await eventually(async () => {
    await rounds(1);
    expect(pve.vms.size).toBe(maxNodes);
  }, 60_000);
}, 120_000);

test('a token that may look but not create: failed machines count against maxNodes, and the provider is left alone', async () => {
  secret = token;
  pve = await new ProxmoxFake().start();
  pve.forbidden.add('POST /nodes/{node}/qemu');
  await begin();
  await eventually(async () => {
    await rounds(1);
    expect(await limitCodes()).toContain('provider-backed-off');
  }, 60_000);
  await rounds(10);
  const made = (await records()).length;
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThanOrEqual(maxNodes);
  expect(pve.vms.size).toBe(0);
  const calls = pve.calls.length;
  await rounds(10);
  expect((await records()).length).toBe(made);
  expect(pve.calls).toHaveLength(calls);
  expect(pve.calls.filter((call) => call === 'POST /nodes/{node}/qemu').length).toBeLessThanOrEqual(maxNodes);

  // The description changes: it is tried again.
  pve.forbidden.clear();
  await loadInventory(world.store, labConfig(world.lab.inventory(), configOf({ managedTag: 'other' })));
  await eventually(async () => {
    await rounds(1);
    expect([...pve.vms.values()].filter(({ running }) => running).length).toBeGreaterThan(0);
  }, 60_000);
}, 120_000);
