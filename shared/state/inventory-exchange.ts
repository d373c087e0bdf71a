import type { Store } from '../ports/store.ts';
import type { ConfigInput } from '../schema/config.ts';
import type { MachineInput } from '../schema/machine.ts';
import { decode, encode } from './codec.ts';
import { putIfChanged, readInventoryEntries, readSource, writePoolMembers } from './inventory-load.ts';
import { keys, splitKey } from './keys.ts';
import { describeSource, type Source } from './source.ts';

type Pools = NonNullable<ConfigInput['pools']>;

/** Pools, machines and settings as they were written in their sources. */
export async function readConfigInput(
  store: Store,
): Promise<ConfigInput & { pools: Pools; machines: MachineInput[] }> {
  const entries = [...(await readInventoryEntries(store)).values()];
  const parts = <Value>(prefix: string, part: string): Value[] =>
    entries
      .filter(({ key }) => key.startsWith(prefix) && splitKey(key, prefix).part === part)
      .map(({ key, value }) => decode<Value>(key, value));
  const settings = entries.find(({ key }) => key === keys.global('config'));
  return {
    schemaVersion: 'v1alpha1',
    ...(settings && {
      autoscaler: decode<NonNullable<ConfigInput['autoscaler']>>(settings.key, settings.value),
    }),
    pools: parts<Pools[number]>(keys.pools, 'config'),
    // Machines made on demand are not part of the described inventory.
    machines: parts<MachineInput>(keys.nodes, 'spec').filter(({ made }) => !made),
  };
}

export interface ImportResult {
  readonly machines: number;
  readonly changed: number;
  /** Described by a custom resource, which must be changed instead. */
  readonly refused: readonly string[];
}

/**
 * Adds and changes machines and pools; removes nothing. The config file no longer changes them afterwards.
 */
export async function importInventory(
  store: Store,
  { pools = [], machines = [] }: Pick<ConfigInput, 'pools' | 'machines'>,
): Promise<ImportResult> {
  const before = await readInventoryEntries(store);
  const refused: string[] = [];
  let changed = 0;
  const put = async (name: string, sourceKey: string, key: string, value: object): Promise<void> => {
    const source = readSource(before, sourceKey);
    if (source?.from === 'resource') {
      refused.push(`${name} is described by ${describeSource(source)}: change it there`);
      return;
    }
    if (before.get(key)?.value === encode(value)) return;
    await putIfChanged(store, before, sourceKey, encode({ from: 'import' } satisfies Source));
    if (await putIfChanged(store, before, key, encode(value))) changed += 1;
  };
  for (const pool of pools)
    await put(pool.name, keys.pool(pool.name, 'source'), keys.pool(pool.name, 'config'), pool);
  for (const machine of machines)
    await put(machine.name, keys.node(machine.name, 'source'), keys.node(machine.name, 'spec'), machine);
  await writePoolMembers(store);
  return { machines: machines.length, changed, refused };
}
