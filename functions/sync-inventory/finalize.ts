import { bamelKeys } from '../../shared/core/cluster/names.ts';
import { type Resource, refOf } from '../../shared/ports/resources.ts';
import { commitOne, removeMachine } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { bindingOf, claimOn } from './claims.ts';
import { isAtRest } from './operated.ts';
import { type PowerOff, powerOff } from './power-off.ts';
import {
  isStored,
  latest,
  readStoreState,
  recordOf,
  removeFinalizer,
  type StoreState,
  type SyncContext,
  storedUid,
} from './sync-context.ts';

/** Maximum number of names in a message. */
const maxNames = 10;

const listed = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.join(', ')
    : `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more`;

const isDeleting = (context: SyncContext, resource: Resource): boolean =>
  resource.deleting && latest(context, resource).finalizers.includes(bamelKeys.inventory);

/**
 * Finalizes deleted resources in the order of their dependencies, and returns their number. A blocked
 * deletion says what it waits for.
 */
export async function finalizeAll(context: SyncContext): Promise<number> {
  const steps = [
    [context.seen.autoscaler, finalizeAutoscaler],
    [context.seen.node, finalizeMachine],
    [context.seen.pool, finalizePool],
  ] as const;
  let gone = 0;
  for (const [resources, step] of steps) {
    const going = resources.filter((resource) => isDeleting(context, resource));
    if (going.length === 0) continue;
    const known = await readStoreState(context.deps);
    for (const resource of going) await step(context, known, resource);
    gone += going.length;
  }
  return gone;
}

async function finalizeAutoscaler(
  context: SyncContext,
  known: StoreState,
  autoscaler: Resource,
): Promise<void> {
  const powersOff = bindingOf(autoscaler)?.deletionPolicy === 'power-off' && autoscaler.spec.dryRun !== true;
  const steps = new Map<string, PowerOff>();
  for (const node of context.seen.node) {
    const claim = claimOn(node, { ...context.seen, autoscaler: [{ ...autoscaler, deleting: false }] });
    const record = recordOf(node, known);
    if (claim.kind === 'none' || !record) continue;
    const claimedByOthers = claimOn(node, context.seen).kind === 'several';
    const step: PowerOff =
      powersOff && !claimedByOthers
        ? await powerOff(context, known, node, record, autoscaler)
        : isAtRest(record)
          ? { kind: 'off' }
          : { kind: 'left', why: `power is ${record.status.powerState}` };
    steps.set(node.name, step);
  }
  const waits = [...steps].flatMap(([name, step]) =>
    step.kind === 'waits' ? [`${name} (${step.why})`] : [],
  );
  if (waits.length > 0) {
    context.waiting.set(autoscaler.uid, {
      reason: 'PoweringOff',
      message: `its machines are powered off first; not off yet: ${listed(waits)}`,
    });
    return;
  }
  const left = [...steps].flatMap(([name, step]) => (step.kind === 'left' ? [`${name} (${step.why})`] : []));
  if (left.length > 0)
    await context.resources.recordEvent(autoscaler, {
      type: 'Warning',
      reason: 'LeftAsTheyAre',
      message: `these machines are no longer operated and stay as they are: ${listed(left)}`,
    });
  const key = keys.global('source');
  if (storedUid(known, key) === autoscaler.uid)
    await commitOne(
      context.deps.inventory.store,
      { delete: key },
      known.described.get(key)?.revision ?? 0,
      context.lease.fence,
    );
  context.deps.failpoint('sync-after-settings');
  await removeFinalizer(context, autoscaler);
}

async function finalizeMachine(context: SyncContext, known: StoreState, node: Resource): Promise<void> {
  const record = recordOf(node, known);
  if (record) {
    const why = deletionBlocker(context, node, record);
    if (why) {
      context.waiting.set(node.uid, why);
      return;
    }
    // Reported first: after a crash it is reported twice rather than never.
    if (record.status.powerState !== 'off') await reportLeftOn(context, node, record);
    const { store } = context.deps.inventory;
    context.deps.failpoint('sync-before-removal');
    if (!(await removeMachine(store, node.name, known.described, context.lease.fence))) {
      context.waiting.set(node.uid, { reason: 'Changed', message: 'something happened to it just now' });
      return;
    }
    context.deps.failpoint('sync-after-removal');
    context.deps.log.info(
      { step: 'sync', machine: node.name, text: 'its resource is deleted: forgotten' },
      'machine removed from the inventory',
    );
  }
  await removeFinalizer(context, node);
}

function deletionBlocker(context: SyncContext, node: Resource, record: MachineRecord) {
  const { operation, state } = record.status;
  if (operation)
    return { reason: 'OperationUnderWay', message: `${state}, operation ${operation}: it is finished first` };
  const claim = claimOn(node, context.seen);
  if (claim.kind !== 'bound' || !claim.by.deleting || !context.waiting.has(claim.by.uid)) return undefined;
  if (isAtRest(record) || node.spec.maintenance === true) return undefined;
  return {
    reason: 'PoweringOff',
    message: `${refOf(claim.by)} is being deleted too and powers it off first: ${context.waiting.get(claim.by.uid)?.message}`,
  };
}

async function reportLeftOn(context: SyncContext, node: Resource, { status }: MachineRecord): Promise<void> {
  const power = status.powerState === 'on' ? 'is left on' : 'may be on: its power is not known';
  context.deps.log.warn(
    { step: 'sync', machine: node.name, power: status.powerState, text: `is no longer ours and ${power}` },
    'machine left as it is',
  );
  await context.resources.recordEvent(node, {
    type: 'Warning',
    reason: 'LeftOn',
    message: `${node.name} ${power}. It is no longer operated: power it off by hand if it is not needed`,
  });
}

async function finalizePool(context: SyncContext, known: StoreState, pool: Resource): Promise<void> {
  if (isStored(pool, known)) {
    const inStore = [...known.records.values()].filter(({ spec }) => spec.pool === pool.name);
    const described = context.seen.node.filter(
      (node) =>
        node.namespace === pool.namespace &&
        node.spec.pool === pool.name &&
        latest(context, node).finalizers.includes(bamelKeys.inventory),
    );
    const members = [
      ...new Set([...inStore.map(({ spec }) => spec.name), ...described.map(({ name }) => name)]),
    ];
    if (members.length > 0) {
      const cascade = pool.annotations[bamelKeys.cascade] === 'true';
      if (cascade) for (const node of described) if (!node.deleting) await context.resources.delete(node);
      context.waiting.set(pool.uid, {
        reason: cascade ? 'DeletingMembers' : 'HasMembers',
        message: cascade
          ? `its machines are deleted first: ${listed(members)}`
          : `it still has ${listed(members)}: delete them, move them to another pool, or annotate it ${bamelKeys.cascade}=true`,
      });
      return;
    }
    for (const part of ['members', 'config', 'source', 'provider'] as const) {
      const entry = known.described.get(keys.pool(pool.name, part));
      if (!entry) continue;
      await commitOne(
        context.deps.inventory.store,
        { delete: entry.key },
        entry.revision,
        context.lease.fence,
      );
      context.deps.failpoint('sync-between-deletes');
    }
  }
  await removeFinalizer(context, pool);
}
