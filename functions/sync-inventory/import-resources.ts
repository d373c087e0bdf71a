import { PowerError } from '../../shared/ports/power.ts';
import { byAge, type Resource, refOf } from '../../shared/ports/resources.ts';
import { forEachConcurrently } from '../../shared/process/concurrency.ts';
import { MachineSpec } from '../../shared/schema/machine.ts';
import { PoolSpec } from '../../shared/schema/pool.ts';
import { Settings } from '../../shared/schema/settings.ts';
import { encode } from '../../shared/state/codec.ts';
import { putIfChanged } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import type { Source } from '../../shared/state/source.ts';
import { bindingOf, claimOn } from './claims.ts';
import { memoize } from './memoize.ts';
import { whyNotOperated } from './operated.ts';
import { nameTaken, ownersOf, type ResourceRefusal, specProblem } from './resource-problems.ts';
import {
  addFinalizer,
  isStored,
  readStoreState,
  recordOf,
  type StoreState,
  type SyncContext,
  storedUid,
} from './sync-context.ts';

/** Concurrency of writes. */
const atOnce = 16;

const sourceOf = ({ namespace, name, uid }: Resource): Source => ({ from: 'resource', namespace, name, uid });

const inputOf = ({ spec, name }: Resource): object => ({ ...spec, name });
const poolProblem = memoize((pool) => specProblem(PoolSpec, inputOf(pool)));
const machineProblem = memoize((node) => specProblem(MachineSpec, inputOf(node)));

/**
 * Makes the store's inventory match the resources. A resource that is not listed stays: only a deletion
 * removes it.
 */
export async function importResources(context: SyncContext, known: StoreState): Promise<number> {
  const pools = await importPools(context, known);
  // A machine may belong to a new pool.
  const machines = await importMachines(context, pools > 0 ? await readStoreState(context.deps) : known);
  return pools + machines + (await importSettings(context, known));
}

async function put(
  context: SyncContext,
  known: StoreState,
  entries: readonly (readonly [string, object])[],
): Promise<number> {
  let changed = 0;
  for (const [key, value] of entries)
    if (
      await putIfChanged(
        context.deps.inventory.store,
        known.described,
        key,
        encode(value),
        context.lease.fence,
      )
    ) {
      changed += 1;
      context.deps.failpoint('sync-between-writes');
    }
  return changed;
}

async function importPools(context: SyncContext, known: StoreState): Promise<number> {
  const owner = ownersOf(context.seen.pool, (name) => storedUid(known, keys.pool(name, 'source')));
  let changed = 0;
  for (const pool of context.seen.pool) {
    if (pool.deleting) continue;
    const key = keys.pool(pool.name, 'source');
    const input = inputOf(pool);
    const refusal = nameTaken(pool, owner(pool)) ?? poolProblem(pool);
    if (refusal) context.refusals.set(pool.uid, refusal);
    else if (await addFinalizer(context, pool, isStored(pool, known)))
      changed += await put(context, known, [
        [key, sourceOf(pool)],
        [keys.pool(pool.name, 'config'), input],
      ]);
  }
  return changed;
}

async function importMachines(context: SyncContext, known: StoreState): Promise<number> {
  const owner = ownersOf(context.seen.node, (name) => storedUid(known, keys.node(name, 'source')));
  let changed = 0;
  await forEachConcurrently(context.seen.node, atOnce, async (node) => {
    const record = recordOf(node, known);
    // A machine that is being deleted stays described until it is gone.
    if (node.deleting && !record) return;
    const input = inputOf(node);
    const refusal = nameTaken(node, owner(node)) ?? (await whyRefused(context, known, node, input));
    if (refusal) {
      context.refusals.set(node.uid, refusal);
      return;
    }
    if (!node.deleting && !(await addFinalizer(context, node, record !== undefined))) return;
    const idle = whyNotOperated(node, claimOn(node, context.seen), record);
    changed += await put(context, known, [
      [keys.node(node.name, 'source'), sourceOf(node)],
      [keys.node(node.name, 'spec'), idle ? { ...input, maintenance: true } : input],
    ]);
  });
  return changed;
}

async function whyRefused(
  context: SyncContext,
  known: StoreState,
  node: Resource,
  input: object,
): Promise<ResourceRefusal | undefined> {
  const refusal = machineProblem(node);
  if (refusal) return refusal;
  const { pool } = node.spec;
  if (!known.described.has(keys.pool(String(pool), 'config')))
    return {
      reason: 'PoolMissing',
      message: `there is no NodePool ${pool} in the inventory: make it, or write another pool`,
    };
  try {
    await context.deps.driverFor(MachineSpec.parse(input));
    return undefined;
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    return { reason: 'Invalid', message: error.message };
  }
}

/**
 * There is one set of settings: that of the oldest autoscaler; that of a deleted one only if there is no
 * other.
 */
async function importSettings(context: SyncContext, known: StoreState): Promise<number> {
  const { autoscaler } = context.seen;
  const stored = storedUid(known, keys.global('source'));
  const usable: Resource[] = [];
  for (const one of [...autoscaler].sort(byAge)) {
    const refusal = specProblem(Settings, settingsOf(one)) ?? bindingProblem(one);
    if (refusal) context.refusals.set(one.uid, refusal);
    else if (one.deleting) usable.push(...(one.uid === stored ? [one] : []));
    else if (await addFinalizer(context, one, one.uid === stored)) usable.push(one);
  }
  const staying = usable.filter((one) => !one.deleting);
  const chosen = staying.find(({ uid }) => uid === stored) ?? staying[0] ?? usable[0];
  if (!chosen) return 0;
  for (const { uid, deleting } of usable)
    if (uid !== chosen.uid && !deleting)
      context.refusals.set(uid, {
        reason: 'NotInUse',
        message: `its machines are operated, but by the settings of ${refOf(chosen)}, which was there first: there is one set of settings`,
      });
  const settings = settingsOf(chosen);
  return put(context, known, [
    [keys.global('source'), sourceOf(chosen)],
    // An autoscaler that is being deleted starts no operation except to power its machines off.
    [keys.global('config'), powersOff(chosen) ? { ...settings, dryRun: true } : settings],
  ]);
}

const powersOff = (autoscaler: Resource): boolean =>
  autoscaler.deleting && bindingOf(autoscaler)?.deletionPolicy === 'power-off';

const settingsOf = ({ spec }: Resource): object => {
  const { selectors: _, deletionPolicy: __, ...settings } = spec;
  return settings;
};

const bindingProblem = (autoscaler: Resource): ResourceRefusal | undefined =>
  bindingOf(autoscaler)
    ? undefined
    : { reason: 'Invalid', message: 'spec.selectors or spec.deletionPolicy is not as the definition has it' };
