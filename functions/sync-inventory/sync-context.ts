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

/** What one round of syncing knows, and what it finds out on the way. */
export interface SyncContext {
  readonly deps: Deps;
  readonly resources: Resources;
  readonly seen: AllResources;
  readonly lease: Lease;
  readonly now: number;
  /** Resources as they are after our own writes of this round, by uid. */
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

/** The store's side, read anew for every step: the step before may have changed it. */
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

/** The machine that a BareMetalNode describes; one of the same name that somebody else describes is not it. */
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
 * Puts our finalizer on a resource before anything of it is in the store. Undefined: it is going, or changed
 * since it was seen; a cache that lags must not bring back what somebody else has just removed.
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

/** One resource that the API server does not let us write must not keep us from all the others. */
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

/** Lets a resource go. */
export async function removeFinalizer(context: SyncContext, resource: Resource): Promise<void> {
  const seen = latest(context, resource);
  const after = await context.resources.writeFinalizers(
    seen,
    seen.finalizers.filter((one) => one !== bamelKeys.inventory),
  );
  if (after) context.current.set(after.uid, after);
  context.deps.failpoint('sync-after-release');
}
