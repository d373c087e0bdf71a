import type { MachineStatus } from '../core/machine.ts';
import type { Entry, Store, Write } from '../ports.ts';
import type { ConfigInput } from '../schema/config-file.ts';
import type { MachineInput } from '../schema/machine.ts';
import { decode, encode } from './codec.ts';
import { keys, splitKey } from './keys.ts';

export interface LoadResult {
  readonly machines: number;
  readonly changed: number;
  /** No longer described, but with an operation under way: they go when loaded again after its end. */
  readonly kept: readonly string[];
}

/** Makes the store's inventory what the file says. Operations under way go on with their own copies. */
export async function loadInventory(store: Store, config: ConfigInput): Promise<LoadResult> {
  const machines = config.machines ?? [];
  const pools = config.pools ?? [];
  const before = new Map<string, Entry>();
  for (const prefix of [keys.nodes, keys.pools, keys.global('config')])
    for (const entry of (await store.list(prefix)).entries) before.set(entry.key, entry);

  const wanted = new Map<string, string>([[keys.global('config'), encode(config.autoscaler ?? {})]]);
  for (const pool of pools) {
    const members = machines.filter((machine) => machine.pool === pool.name).map(({ name }) => name);
    wanted.set(keys.pool(pool.name, 'config'), encode(pool));
    wanted.set(keys.pool(pool.name, 'members'), encode({ machines: members }));
  }
  for (const machine of machines) wanted.set(keys.node(machine.name, 'spec'), encode(machine));

  let changed = 0;
  for (const [key, value] of wanted) {
    if (before.get(key)?.value === value) continue;
    await commitOne(store, { put: key, value }, before.get(key)?.revision ?? 0);
    changed += 1;
  }
  const kept: string[] = [];
  const poolsInUse = new Set<string>();
  for (const { key, value } of before.values()) {
    if (wanted.has(key) || !key.startsWith(keys.nodes)) continue;
    const { id, part } = splitKey(key, keys.nodes);
    if (part !== 'spec' || (await removeMachine(store, id, before))) continue;
    kept.push(id);
    // Its operation has deadlines that the pool sets.
    poolsInUse.add(decode<MachineInput>(key, value).pool);
  }
  for (const { key, revision } of before.values())
    if (key.startsWith(keys.pools) && !wanted.has(key) && !poolsInUse.has(splitKey(key, keys.pools).id))
      await commitOne(store, { delete: key }, revision);
  return { machines: machines.length, changed, kept };
}

async function removeMachine(store: Store, id: string, before: ReadonlyMap<string, Entry>): Promise<boolean> {
  const status = before.get(keys.node(id, 'status'));
  if (status && decode<MachineStatus>(status.key, status.value).operation) return false;
  const { committed } = await store.commit(
    [{ key: keys.node(id, 'status'), revision: status?.revision ?? 0 }],
    (['spec', 'status', 'metrics', 'events'] as const).map((part) => ({ delete: keys.node(id, part) })),
  );
  return committed;
}

async function commitOne(store: Store, write: Write, revision: number): Promise<void> {
  const key = 'put' in write ? write.put : write.delete;
  const { committed } = await store.commit([{ key, revision }], [write]);
  if (!committed)
    throw new Error(`${key} was changed by somebody else while the inventory was loaded: load it again`);
}
