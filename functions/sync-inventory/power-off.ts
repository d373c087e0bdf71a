import { protection } from '../../shared/core/cluster/protect.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import { textOf } from '../../shared/core/reasons/reason.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import { type Resource, refOf } from '../../shared/ports/resources.ts';
import { newId } from '../../shared/process/ids.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { isAtRest } from './operated.ts';
import type { StoreState, SyncContext } from './sync-context.ts';

/** Progress of powering a machine off because its autoscaler is being deleted. */
export type PowerOff =
  | { readonly kind: 'off' }
  /** Not powered off: it stays as it is. */
  | { readonly kind: 'left'; readonly why: string }
  | { readonly kind: 'waits'; readonly why: string };

/** Takes the next step to power the machine off; as in every scale-down it is drained first. */
export async function powerOff(
  context: SyncContext,
  known: StoreState,
  node: Resource,
  record: MachineRecord,
  autoscaler: Resource,
): Promise<PowerOff> {
  const { status } = record;
  if (isAtRest(record)) return { kind: 'off' };
  if (node.spec.maintenance === true) return { kind: 'left', why: 'it is in maintenance' };
  if (status.operation) return { kind: 'waits', why: `${status.state}, operation ${status.operation}` };
  if (status.powerState === 'unknown') return { kind: 'left', why: 'its power is not known' };
  if (capacityOf(record) !== 'serving') return { kind: 'waits', why: whyNotYet(record) };
  const { nodes } = await context.deps.cluster.view();
  const found = nodes.find(({ name }) => name === status.kubernetesNode);
  if (!found) return { kind: 'waits', why: 'its node is not in the cluster' };
  const why = protection(record, found, known.settings.protect, context.deps.ownNode);
  if (why) return { kind: 'left', why: textOf(why) };
  return drain(context, known, record, autoscaler);
}

const whyNotYet = ({ status }: MachineRecord): string =>
  status.state === 'error'
    ? `quarantined (${status.lastError?.message ?? 'it failed'}): power it off by hand, or set deletionPolicy to leave`
    : status.state;

async function drain(
  { deps, lease, now }: SyncContext,
  { settings }: StoreState,
  record: MachineRecord,
  autoscaler: Resource,
): Promise<PowerOff> {
  const operation = newId('op', now);
  const why = `${refOf(autoscaler)} is being deleted with deletionPolicy power-off`;
  const result = await applyEvent(deps.inventory, record, {
    event: { type: 'drain-requested', operation },
    by: 'sync-inventory',
    why,
    begins: {
      id: operation,
      machine: record.spec.name,
      goal: 'off',
      why,
      spec: record.input,
      createdAt: now,
      commands: [],
    },
    lease,
    settings,
    now,
  });
  deps.failpoint('sync-after-intent');
  if (result.kind === 'refused') return { kind: 'waits', why: result.why };
  if (result.kind === 'changed') await deps.sink.emit(machineEvent(events.drainRequested, record.spec.name));
  return { kind: 'waits', why: `operation ${operation} has begun` };
}
