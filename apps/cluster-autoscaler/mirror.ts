import type { ProviderState } from '../../shared/core/limits/provider-state.ts';
import type { Offer } from '../../shared/core/remote/offer.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Entry, Store, StoreChange } from '../../shared/ports/store.ts';
import { PoolSpec as PoolSchema } from '../../shared/schema/pool.ts';
import { Settings as SettingsSchema } from '../../shared/schema/settings.ts';
import { decode } from '../../shared/state/codec.ts';
import type { StoredOperation } from '../../shared/state/inventory.ts';
import { keys, splitKey } from '../../shared/state/keys.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { createRecordReader, parseStored } from '../../shared/state/machine-record.ts';
import type { StoredOffer } from '../../shared/state/offers.ts';
import { providersIn } from '../../shared/state/providers.ts';
import { type Instance, instanceId, instancesOf, type PoolState } from './instances.ts';
import { noTarget, Target } from './target.ts';

/** A node group: a pool that is left to the Cluster Autoscaler. */
export interface Group extends PoolState {
  readonly spec: PoolSpec;
  readonly members: readonly MachineRecord[];
  readonly instances: readonly Instance[];
}

/**
 * The store in memory, kept by a watch and indexed by what the Cluster Autoscaler asks for. A change costs what it
 * changes, not what there is: answers must not be late because one of ten thousand machines was just looked at.
 */
export interface Mirror {
  groups(): readonly Group[];
  group(name: string): Group | undefined;
  machine(name: string): MachineRecord | undefined;
  machines(): readonly MachineRecord[];
  pools(): readonly PoolSpec[];
  settings(): Settings;
  offers(): readonly Offer[];
  providers(): readonly ProviderState[];
  /** The machine that a node is, by what it is known by. */
  find(node: { readonly providerID: string; readonly name: string }): MachineRecord | undefined;
  operation(id: string): StoredOperation | undefined;
  /** Of the last write to the group's target that was seen here; 0: none. */
  targetRevision(name: string): number;
  /** Resolves once it holds, checked at every change; false when the signal aborts first. */
  until(holds: () => boolean, signal: AbortSignal): Promise<boolean>;
  /** Time since the last event of the watch. */
  silentMs(): number;
  close(): Promise<void>;
}

function setOrDelete(map: Map<string, Entry>, id: string, entry: Entry | undefined): void {
  if (entry) map.set(id, entry);
  else map.delete(id);
}

export async function openMirror(store: Store, clock: Clock): Promise<Mirror> {
  const readRecords = createRecordReader(clock);
  const parts = new Map<string, Map<string, Entry>>();
  const records = new Map<string, MachineRecord>();
  const members = new Map<string, Set<string>>();
  const byId = new Map<string, string>();
  const byNode = new Map<string, string>();
  const pools = new Map<string, Entry>();
  const targets = new Map<string, Entry>();
  const providers = new Map<string, Entry>();
  const operations = new Map<string, Entry>();
  const offers = new Map<string, Entry>();
  const made = new Map<string, Group | undefined>();
  const changed = new Set<string>();
  const waiting = new Set<() => void>();
  let settings: Entry | undefined;
  let lastToldAt = clock.monotonic();

  const forget = (name: string): void => {
    const before = records.get(name);
    if (!before) return;
    records.delete(name);
    members.get(before.spec.pool)?.delete(name);
    made.delete(before.spec.pool);
    if (byId.get(instanceId(before)) === name) byId.delete(instanceId(before));
    const { kubernetesNode } = before.status;
    if (kubernetesNode !== undefined && byNode.get(kubernetesNode) === name) byNode.delete(kubernetesNode);
  };
  const remember = (record: MachineRecord): void => {
    const { name, pool } = record.spec;
    records.set(name, record);
    const set = members.get(pool) ?? new Set();
    members.set(pool, set.add(name));
    made.delete(pool);
    byId.set(instanceId(record), name);
    if (record.status.kubernetesNode !== undefined) byNode.set(record.status.kubernetesNode, name);
  };
  /** Machines are parsed on demand: a burst of changes to one costs one read. */
  const settle = (): void => {
    if (changed.size === 0) return;
    for (const name of changed) {
      forget(name);
      const [record] = readRecords([...(parts.get(name)?.values() ?? [])]);
      if (record) remember(record);
    }
    changed.clear();
  };

  const take = (key: string, entry: Entry | undefined): void => {
    if (key.startsWith(keys.nodes)) {
      const { id, part } = splitKey(key, keys.nodes);
      const of = parts.get(id) ?? new Map<string, Entry>();
      parts.set(id, of);
      if (entry) of.set(part, entry);
      else of.delete(part);
      if (of.size === 0) parts.delete(id);
      changed.add(id);
    } else if (key.startsWith(keys.pools)) {
      const { id, part } = splitKey(key, keys.pools);
      made.delete(id);
      if (part === 'config') setOrDelete(pools, id, entry);
      if (part === 'target') setOrDelete(targets, id, entry);
      if (part === 'provider') setOrDelete(providers, id, entry);
    } else if (key.startsWith(keys.operations)) {
      setOrDelete(operations, key.slice(keys.operations.length), entry);
      made.clear();
    } else if (key.startsWith(keys.offers)) setOrDelete(offers, key, entry);
    else if (key === keys.global('config')) settings = entry;
  };
  const onChange = (change: StoreChange): void => {
    lastToldAt = clock.monotonic();
    if (change.type === 'put') take(change.entry.key, change.entry);
    else if (change.type === 'delete') take(change.key, undefined);
    else {
      for (const name of parts.keys()) changed.add(name);
      for (const map of [parts, pools, targets, providers, operations, offers, made]) map.clear();
      for (const entry of change.entries) take(entry.key, entry);
      settle();
    }
    for (const look of waiting) look();
  };
  const watch = await store.watch('/baremetal/', onChange);

  const specs = new WeakMap<Entry, PoolSpec>();
  const specOf = (entry: Entry): PoolSpec => {
    const known = specs.get(entry) ?? parseStored(PoolSchema, entry.key, decode(entry.key, entry.value));
    specs.set(entry, known);
    return known;
  };
  const operation = (id: string): StoredOperation | undefined => {
    const entry = operations.get(id);
    return entry && decode<StoredOperation>(entry.key, entry.value);
  };
  const makeGroup = (name: string): Group | undefined => {
    const described = pools.get(name);
    const spec = described && specOf(described);
    if (spec?.managedBy !== 'clusterAutoscaler') return undefined;
    const entry = targets.get(name);
    const state: PoolState & Pick<Group, 'members'> = {
      name,
      members: [...(members.get(name) ?? [])].sort().flatMap((machine) => records.get(machine) ?? []),
      target: entry ? parseStored(Target, entry.key, decode(entry.key, entry.value)) : noTarget,
      operation,
    };
    return { ...state, spec, instances: instancesOf(state) };
  };
  const group = (name: string): Group | undefined => {
    settle();
    if (!made.has(name)) made.set(name, makeGroup(name));
    return made.get(name);
  };
  return {
    group,
    groups: () => [...pools.keys()].sort().flatMap((name) => group(name) ?? []),
    machine(name) {
      settle();
      return records.get(name);
    },
    machines() {
      settle();
      return [...records.values()];
    },
    pools: () => [...pools.values()].map(specOf),
    settings: () =>
      parseStored(
        SettingsSchema,
        keys.global('config'),
        settings ? decode(settings.key, settings.value) : {},
      ),
    offers: () => [...offers.values()].map(({ key, value }) => decode<StoredOffer>(key, value).offer),
    providers: () => providersIn([...pools.values(), ...providers.values()]),
    find({ providerID, name }) {
      settle();
      const machine = byId.get(providerID) ?? byId.get(name) ?? byNode.get(name);
      return machine === undefined ? undefined : records.get(machine);
    },
    operation,
    targetRevision: (name) => targets.get(name)?.revision ?? 0,
    until(holds, signal) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const look = (): void => {
        if (holds()) resolve(true);
        else if (signal.aborted) resolve(false);
      };
      waiting.add(look);
      signal.addEventListener('abort', look);
      look();
      return promise.finally(() => {
        waiting.delete(look);
        signal.removeEventListener('abort', look);
      });
    },
    silentMs: () => clock.monotonic() - lastToldAt,
    close: () => watch.close(),
  };
}
