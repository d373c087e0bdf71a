import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { Settings as CoreSettings } from '../../shared/core/settings.ts';
import type { Lease, Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { Settings } from '../../shared/schema/settings.ts';
import { createInventory, type Inventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';

export const now = Date.UTC(2026, 0, 1);
export const settings: CoreSettings = Settings.parse({});

export type MachineInput = NonNullable<ConfigInput['machines']>[number];

export const machine = (name: string, more: Partial<MachineInput> = {}): MachineInput => ({
  name,
  pool: 'rack',
  powerInterface: 'redfish',
  mgmtAddress: `https://${name}.example`,
  resources: { cpu: 4, memory: '16Gi' },
  ...more,
});

export const config = (machines: readonly MachineInput[], more: Partial<ConfigInput> = {}): ConfigInput => ({
  schemaVersion: 'v1alpha1',
  pools: [{ name: 'rack' }],
  machines: [...machines],
  ...more,
});

/** An inventory in memory. */
export async function openInventory(described: ConfigInput = config([machine('m-1')])) {
  const store = await openStore('embedded:');
  await loadInventory(store, described);
  const inventory = createInventory(store, { ...realClock, now: () => now });
  return { store, inventory };
}

export async function recordOf(inventory: Inventory, name = 'm-1'): Promise<MachineRecord> {
  const record = await inventory.machine(name);
  if (!record) throw new Error(`there is no machine ${name}`);
  return record;
}

export async function leaseOf(store: Store, name = 'machine-m-1'): Promise<Lease> {
  const lease = await store.acquire(name, 60_000, 'test');
  if (!lease) throw new Error(`the lease ${name} is held by somebody else`);
  return lease;
}

/** The revision of the whole store: any write raises it. */
export const revisionOf = async (store: Store): Promise<number> => (await store.list('/')).revision;

/** An intent to power a machine on, as an evaluation writes it. */
export function powerOn(record: MachineRecord, id = 'op-1') {
  const { name } = record.spec;
  return {
    event: { type: 'power-on-requested', operation: id },
    by: 'evaluate-scaling',
    why: 'needed',
    begins: {
      id,
      machine: name,
      goal: 'on',
      why: 'needed',
      spec: record.input,
      createdAt: now,
      commands: [],
    },
  } as const;
}
