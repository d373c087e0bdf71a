import { withLog } from '../../shared/core/machine/hardware-log.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { KnownLog } from '../../shared/core/machine/machine.ts';
import { type Seen, unexpectedChange } from '../../shared/core/machine/observed-power.ts';
import { type Settings, stableReads } from '../../shared/core/settings.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import type { PowerDriver } from '../../shared/ports/power.ts';
import { newId } from '../../shared/process/ids.ts';
import { underMachineLease } from '../../shared/state/leases.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import type { Deps } from '../deps.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { readPower } from './read-power.ts';
import { readSensors, toSeen } from './sensors.ts';

/** Adopts an unexpected change of power. It is read again under the lease: one read is not reliable. */
export function adopt(
  deps: Deps,
  breaker: CircuitBreaker,
  driver: () => Promise<PowerDriver>,
  { spec }: MachineRecord,
  { seen: first, log }: { readonly seen: Seen; readonly log: KnownLog | undefined },
  settings: Settings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { timings } = settings;
  const { name } = spec;
  return underMachineLease(deps, name, settings, { ms: 0 }, async (lease) => {
    const record = await deps.inventory.machine(name);
    if (!record) return 'nothing to do';
    let seen = first;
    let observed: Happened['observed'] = { powerState: first.power, bmcReachable: first.power !== 'unknown' };
    for (let reads = 1; reads < stableReads; reads += 1) {
      await deps.clock.sleep(timings.readEveryMs, signal);
      const again = await readPower({ driver, breaker, record, spec, timings, signal });
      const measured =
        first.health === undefined || !again.reading
          ? undefined
          : await readSensors(await driver(), again, timings, signal);
      seen = toSeen(again, withLog(measured, log, record.status.acknowledgedAt));
      observed = again.observed;
      if (seen.power !== first.power) return 'power is not steady; looking again next time';
    }
    const now = deps.clock.now();
    const operation = newId('op', now);
    const event = unexpectedChange(record, seen, operation, now);
    if (!event) return 'nothing to do';
    if (settings.dryRun && 'operation' in event)
      return `would be ${goals[event.type] === 'on' ? 'powered on' : 'powered off'}, but this is a dry run`;
    const why = whyOf(event, seen);
    const intent = {
      id: operation,
      machine: name,
      goal: goals[event.type] ?? 'off',
      why,
      spec: record.input,
    };
    const result = await applyEvent(deps.inventory, record, {
      event,
      by: 'power-action',
      why,
      observed,
      ...('operation' in event && { begins: { ...intent, createdAt: now, commands: [] } }),
      lease,
      settings,
      now,
    });
    if (result.kind !== 'changed') return result.kind === 'refused' ? result.why : 'changed meanwhile';
    const { from, to } = result;
    deps.log.info(
      { step: 'power', machine: name, from, to, text: `${why}: ${from} → ${to}` },
      'power changed without being asked',
    );
    await deps.sink.emit(machineEvent(nextEvents[event.type] ?? events.machineStopped, name));
    return why;
  });
}

type Happened = Parameters<typeof applyEvent>[2];
type Table<Value> = Partial<Record<MachineEvent['type'], Value>>;

/** Goals of operations that start with the event. */
const goals: Table<'on' | 'off'> = { 'power-on-requested': 'on' };

/** The event that wakes the next function. */
const nextEvents: Table<string> = {
  'power-on-requested': events.powerRequested,
  'power-off-requested': events.powerRequested,
  'drain-requested': events.drainRequested,
  'found-on': events.machinePowered,
  failed: events.machineFailed,
};

function whyOf(event: MachineEvent, { power }: Seen): string {
  if (event.type === 'failed') return event.message;
  if (event.type === 'power-on-requested') return 'its powerState says on';
  if (event.type === 'drain-requested') return 'its powerState says off';
  return `found ${power}`;
}
