import { bamelKeys } from '../../shared/core/cluster/names.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { ClusterError } from '../../shared/ports/cluster.ts';
import { type AllResources, type Resource, type Resources, refOf } from '../../shared/ports/resources.ts';
import type { Lease } from '../../shared/ports/store.ts';
import {
  type InventoryEntries,
  readInventoryEntries,
  readSource,
} from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';
import type { ResourceRefusal } from './resource-problems.ts';

/** The context of one sync. */
export interface SyncContext {
  readonly deps: Deps;
  readonly resources: Resources;
  readonly seen: AllResources;
  readonly lease: Lease;
  readonly now: number;
  /** Resources after our own writes in this sync, by uid. */
  readonly current: Map<string, Resource>;
  /** Why a resource is not in the inventory, by uid. */
  readonly refusals: Map<string, ResourceRefusal>;
  /** What the deletion of a resource waits for, by uid. */
  readonly waiting: Map<string, Waiting>;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** The state of the store, read again for every step: the step before may have changed it. */
export interface StoreState {
  readonly described: InventoryEntries;
  readonly records: ReadonlyMap<string, MachineRecord>;
  readonly settings: Settings;
}

export async function readStoreState({ inventory }: Pick<Deps, 'inventory'>): Promise<StoreState> {
  const [described, records, settings] = await Promise.all([
    readInventoryEntries(inventory.store),
    inventory.machines(),
    inventory.settings(),
  ]);
  return { described, settings, records: new Map(records.map((record) => [record.spec.name, record])) };
}

/**
 * The machine that a BareMetalNode describes; undefined if another source describes a machine with its name.
 */
export function recordOf(node: Resource, { records }: StoreState): MachineRecord | undefined {
  const record = records.get(node.name);
  return record?.source?.from === 'resource' && record.source.uid === node.uid ? record : undefined;
}

export function storedUid(known: StoreState, key: string): string | undefined {
  const source = readSource(known.described, key);
  return source?.from === 'resource' ? source.uid : undefined;
}

export const isStored = (pool: Resource, known: StoreState): boolean =>
  storedUid(known, keys.pool(pool.name, 'source')) === pool.uid;

export const latest = ({ current }: SyncContext, resource: Resource): Resource =>
  current.get(resource.uid) ?? resource;

/**
 * Adds our finalizer to a resource before it is stored. Undefined: it is being deleted, or changed since it
 * was listed; a stale cache must not bring back a removed resource.
 */
export async function addFinalizer(
  context: SyncContext,
  resource: Resource,
  isKnown: boolean,
): Promise<Resource | undefined> {
  const seen = latest(context, resource);
  if (seen.finalizers.includes(bamelKeys.inventory) && isKnown) return seen;
  const held = await writeOrRefuse(context, resource, () =>
    seen.finalizers.includes(bamelKeys.inventory)
      ? context.resources.read(seen)
      : context.resources.writeFinalizers(seen, [...seen.finalizers, bamelKeys.inventory]),
  );
  if (!held || held.uid !== resource.uid || held.deleting || !held.finalizers.includes(bamelKeys.inventory))
    return undefined;
  context.current.set(held.uid, held);
  context.deps.failpoint('sync-after-hold');
  return held;
}

/** A resource that the API server refuses to write must not block all others. */
export async function writeOrRefuse(
  { refusals, deps: { log } }: SyncContext,
  resource: Resource,
  write: () => Promise<Resource | undefined>,
): Promise<Resource | undefined> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code !== 'refused') throw error;
    log.warn({ resource: refOf(resource), problem: error.message }, 'the resource cannot be written');
    refusals.set(resource.uid, { reason: 'Refused', message: error.message });
    return undefined;
  }
}

/** Removes our finalizer. */
export async function removeFinalizer(context: SyncContext, resource: Resource): Promise<void> {
  const seen = latest(context, resource);
  const after = await context.resources.writeFinalizers(
    seen,
    seen.finalizers.filter((one) => one !== bamelKeys.inventory),
  );
  if (after) context.current.set(after.uid, after);
  context.deps.failpoint('sync-after-release');
}
