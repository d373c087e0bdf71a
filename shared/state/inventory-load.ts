import type { MachineStatus } from '../core/machine/machine.ts';
import type { Condition, Entry, Store, Write } from '../ports/store.ts';
import type { ConfigInput } from '../schema/config.ts';
import type { MachineInput } from '../schema/machine.ts';
import { decode, encode } from './codec.ts';
import { keys, splitKey } from './keys.ts';
import { describeSource, type Source } from './source.ts';

export interface LoadResult {
  readonly machines: number;
  readonly changed: number;
  /** No longer described but with an operation in progress: removed by the first load after its end. */
  readonly kept: readonly string[];
  /** Also described by a source that has precedence. */
  readonly elsewhere: readonly string[];
}

/** All store entries of machines, pools and settings, by key. */
export type InventoryEntries = ReadonlyMap<string, Entry>;

export async function readInventoryEntries(store: Store): Promise<InventoryEntries> {
  const prefixes = [keys.nodes, keys.pools, keys.global('config'), keys.global('source')];
  const lists = await Promise.all(prefixes.map((prefix) => store.list(prefix)));
  return new Map(lists.flatMap(({ entries }) => entries.map((entry) => [entry.key, entry])));
}

export function readSource(described: InventoryEntries, key: string): Source | undefined {
  const entry = described.get(key);
  return entry && decode<Source>(entry.key, entry.value);
}

/**
 * Makes the store's inventory match the file. Operations in progress keep their own copies. Custom resources
 * own what they describe: the file neither changes nor removes it.
 */
export async function loadInventory(store: Store, config: ConfigInput): Promise<LoadResult> {
  const before = await readInventoryEntries(store);
  const elsewhere: string[] = [];
  const isOurs = (name: string, key: string): boolean => {
    const source = readSource(before, key);
    if (source) elsewhere.push(`${name} (${describeSource(source)})`);
    return source === undefined;
  };
  const machines = (config.machines ?? []).filter(({ name }) => isOurs(name, keys.node(name, 'source')));
  const pools = (config.pools ?? []).filter(({ name }) => isOurs(name, keys.pool(name, 'source')));

  const wanted = new Map<string, string>();
  if (isOurs('autoscaler', keys.global('source')))
    wanted.set(keys.global('config'), encode(config.autoscaler ?? {}));
  for (const pool of pools) wanted.set(keys.pool(pool.name, 'config'), encode(pool));
  for (const machine of machines) wanted.set(keys.node(machine.name, 'spec'), encode(machine));

  let changed = 0;
  for (const [key, value] of wanted) if (await putIfChanged(store, before, key, value)) changed += 1;
  const kept: string[] = [];
  const poolsInUse = new Set<string>();
  for (const { key, value } of before.values()) {
    if (wanted.has(key) || !key.startsWith(keys.nodes)) continue;
    const { id, part } = splitKey(key, keys.nodes);
    if (part !== 'spec') continue;
    const { pool, made } = decode<MachineInput>(key, value);
    // A machine made on demand is removed when it is returned.
    if (made || before.has(keys.node(id, 'source'))) poolsInUse.add(pool);
    else if (!(await removeMachine(store, id, before))) {
      kept.push(id);
      // The pool sets the deadlines of its operation.
      poolsInUse.add(pool);
    }
  }
  for (const { key, revision } of before.values()) {
    if (!key.startsWith(keys.pools) || wanted.has(key)) continue;
    const { id } = splitKey(key, keys.pools);
    if (before.has(keys.pool(id, 'source')) || poolsInUse.has(id)) continue;
    if (pools.some(({ name }) => name === id)) continue;
    await commitOne(store, { delete: key }, revision);
  }
  changed += await writePoolMembers(store);
  return { machines: config.machines?.length ?? 0, changed, kept, elsewhere };
}

/**
 * Writes the list of machines of each pool, for readers of the store that do not parse machines. Returns the
 * number of changed pools.
 */
export async function writePoolMembers(store: Store, fence?: Condition): Promise<number> {
  const described = await readInventoryEntries(store);
  const members = new Map<string, string[]>();
  for (const { key, value } of described.values()) {
    if (key.startsWith(keys.pools) && splitKey(key, keys.pools).part === 'config') {
      const { id } = splitKey(key, keys.pools);
      members.set(id, members.get(id) ?? []);
    }
    if (!key.startsWith(keys.nodes) || splitKey(key, keys.nodes).part !== 'spec') continue;
    const { name, pool } = decode<MachineInput>(key, value);
    members.set(pool, [...(members.get(pool) ?? []), name]);
  }
  let changed = 0;
  for (const [pool, machines] of members) {
    if (!described.has(keys.pool(pool, 'config'))) continue;
    const key = keys.pool(pool, 'members');
    if (await putIfChanged(store, described, key, encode({ machines }), fence)) changed += 1;
  }
  return changed;
}

/** False: the value is unchanged. */
export async function putIfChanged(
  store: Store,
  before: InventoryEntries,
  key: string,
  value: string,
  fence?: Condition,
): Promise<boolean> {
  if (before.get(key)?.value === value) return false;
  await commitOne(store, { put: key, value }, before.get(key)?.revision ?? 0, fence);
  return true;
}

/** False: an operation is in progress, or the machine changed meanwhile. */
export async function removeMachine(
  store: Store,
  id: string,
  before: InventoryEntries,
  fence?: Condition,
): Promise<boolean> {
  const status = before.get(keys.node(id, 'status'));
  if (status && decode<MachineStatus>(status.key, status.value).operation) return false;
  const { committed } = await store.commit(
    [...(fence ? [fence] : []), { key: keys.node(id, 'status'), revision: status?.revision ?? 0 }],
    (['spec', 'status', 'metrics', 'events', 'source'] as const).map((part) => ({
      delete: keys.node(id, part),
    })),
  );
  return committed;
}

export async function commitOne(
  store: Store,
  write: Write,
  revision: number,
  fence?: Condition,
): Promise<void> {
  const key = 'put' in write ? write.put : write.delete;
  const { committed } = await store.commit([...(fence ? [fence] : []), { key, revision }], [write]);
  if (!committed) throw new Error(`${key} changed while the inventory was loaded: load it again`);
}
