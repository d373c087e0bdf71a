import type { DecisionRecord } from '../core/decide/decision.ts';
import type { OperationEnd } from '../core/machine/lifecycle.ts';
import type { Operation } from '../core/machine/operation.ts';
import type { PoolSpec, Settings } from '../core/settings.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { type MachineInput, MachineSpec } from '../schema/machine.ts';
import { PoolSpec as PoolSchema } from '../schema/pool.ts';
import { Settings as SettingsSchema } from '../schema/settings.ts';
import { decode } from './codec.ts';
import { keys, splitKey } from './keys.ts';
import type { MachineRecord } from './machine-record.ts';
import { createRecordReader, parseStored } from './machine-record.ts';

/** An operation as it stands in the store: its spec is the input's copy. */
export type StoredOperation = Omit<Operation, 'spec'> & { readonly spec: MachineInput };

export interface OperationRecord {
  readonly operation: Operation;
  readonly stored: StoredOperation;
  readonly revision: number;
}

/** A change of a machine's state, for metrics. */
export interface StateChange {
  readonly pool: string;
  /** Goal of the operation that the change ended, if any. */
  readonly goal?: Operation['goal'] | undefined;
  readonly end?: OperationEnd | undefined;
  /** Time from power on to the Ready node, when the change is a join. */
  readonly bootMs?: number | undefined;
}

/** Typed reads from the store. Writes are in machine-writes.ts. */
export interface Inventory {
  readonly store: Store;
  /** Called after every stored change of a machine's state. */
  readonly onStateChange?: ((happened: StateChange) => void) | undefined;
  machines(): Promise<MachineRecord[]>;
  machine(name: string): Promise<MachineRecord | undefined>;
  pools(): Promise<PoolSpec[]>;
  settings(): Promise<Settings>;
  operation(id: string): Promise<OperationRecord | undefined>;
  decision(id: string): Promise<DecisionRecord | undefined>;
}

export function createInventory(store: Store, clock: Clock): Inventory {
  const readRecords = createRecordReader(clock);
  const records = async (prefix: string): Promise<MachineRecord[]> => {
    const { entries } = await store.list(prefix);
    return readRecords(entries);
  };

  return {
    store,
    machines: () => records(keys.nodes),
    machine: async (name) => (await records(`${keys.nodes}${name}/`))[0],
    async pools() {
      const { entries } = await store.list(keys.pools);
      return entries
        .filter(({ key }) => splitKey(key, keys.pools).part === 'config')
        .map(({ key, value }) => parseStored(PoolSchema, key, decode(key, value)));
    },
    async settings() {
      const entry = await store.get(keys.global('config'));
      return parseStored(SettingsSchema, keys.global('config'), entry ? decode(entry.key, entry.value) : {});
    },
    async operation(id) {
      const entry = await store.get(keys.operation(id));
      if (!entry) return undefined;
      const stored = decode<StoredOperation>(entry.key, entry.value);
      return {
        operation: { ...stored, spec: parseStored(MachineSpec, entry.key, stored.spec) },
        stored,
        revision: entry.revision,
      };
    },
    async decision(id) {
      const entry = await store.get(keys.decision(id));
      return entry && decode<DecisionRecord>(entry.key, entry.value);
    },
  };
}
