import { lifecycle, type MachineEvent, type MachineState } from '../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { PowerReading } from '../../shared/ports/power.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import type { Attempt } from './send.ts';

/** Stores the result. Undefined: the machine changed, read it again. */
export async function conclude(
  attempt: Attempt,
  event: MachineEvent,
  observed: Partial<MachineStatus>,
  reading?: PowerReading,
): Promise<string | undefined> {
  const { deps, record, operation, settings, lease } = attempt;
  const { name } = record.spec;
  const { goal } = operation.operation;
  const removes = event.type === 'powered-off' && isGone(attempt);
  deps.failpoint(`power-before-result-${goal}`);
  const result = await applyEvent(deps.inventory, record, {
    event,
    by: 'power-action',
    observed,
    removes,
    lease,
    settings,
    now: deps.clock.now(),
  });
  if (result.kind === 'conflict') return undefined;
  if (result.kind === 'refused') return result.why;
  deps.failpoint(`power-after-result-${goal}`);
  if (event.type === 'failed') {
    deps.log.warn(
      { step: 'power', machine: name, text: `quarantined: ${event.message}` },
      'machine quarantined',
    );
    await deps.sink.emit(machineEvent(events.machineFailed, name));
    return `failed: ${event.message}`;
  }
  const power = reading?.power ?? 'unknown';
  const sure = reading?.inferred ? 'as its node shows' : 'verified by consecutive reads';
  deps.log.info(
    {
      step: 'power',
      machine: name,
      power,
      text: removes ? 'off and given back; it is no more' : `${power}, ${sure}`,
    },
    'power verified',
  );
  // No function acts on a deleted machine; evaluations read everything anyway.
  if (!removes)
    await deps.sink.emit(machineEvent(goal === 'on' ? events.machinePowered : events.machineStopped, name));
  return removes ? 'off and given back' : `power is ${power}`;
}

/**
 * A machine made on demand no longer exists: its record is deleted. While its Node exists the record stays,
 * because the join watcher needs it to remove the Node; the next operation then ends it. A remote slice is
 * off only after its Node is gone.
 */
function isGone({ record, operation }: Attempt): boolean {
  if (!operation.operation.spec.made) return false;
  if (operation.operation.spec.offer !== undefined) return true;
  const from = record.history.at(-1)?.from as MachineState | undefined;
  const atRest = from !== undefined && lifecycle[from].capacity === 'none';
  return record.status.kubernetesNode === undefined || atRest;
}
