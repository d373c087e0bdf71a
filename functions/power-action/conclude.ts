import { lifecycle, type MachineEvent, type MachineState } from '../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { PowerReading } from '../../shared/ports/power.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import type { Attempt } from './send.ts';

/** Writes the result down. Undefined: somebody else wrote meanwhile, so it is to be looked at anew. */
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
      { step: 'power', machine: name, story: `quarantined: ${event.message}` },
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
      story: removes ? 'off and given back; it is no more' : `${power}, ${sure}`,
    },
    'power verified',
  );
  // Nobody can do anything for a machine that is no more; evaluations look at everything anyway.
  if (!removes)
    await deps.sink.emit(machineEvent(goal === 'on' ? events.machinePowered : events.machineStopped, name));
  return removes ? 'off and given back' : `power is ${power}`;
}

/**
 * Made on demand, and not there any more: its record goes too. While its Node object is there the record stays,
 * because whoever removes the Node goes by it; the operation that is begun from rest then ends it. What was lent is
 * off only once its Node is gone.
 */
function isGone({ record, operation }: Attempt): boolean {
  if (!operation.operation.spec.made) return false;
  if (operation.operation.spec.offer !== undefined) return true;
  const from = record.history.at(-1)?.from as MachineState | undefined;
  const atRest = from !== undefined && lifecycle[from].capacity === 'none';
  return record.status.kubernetesNode === undefined || atRest;
}
