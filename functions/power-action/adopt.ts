import { happen } from '../../shared/adapters/changes.ts';
import type { MachineEvent } from '../../shared/core/lifecycle.ts';
import type { Power } from '../../shared/core/machine.ts';
import { surprise } from '../../shared/core/recover.ts';
import { type Settings, stableReads } from '../../shared/core/settings.ts';
import { newId } from '../../shared/runtime/ids.ts';
import { type Deps, underMachineLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';
import { look } from './look.ts';

/** Takes a surprise into the books: read again under the lease, because one read is no fact yet. */
export function adopt(
  deps: Deps,
  name: string,
  power: Power,
  settings: Settings,
  signal: AbortSignal,
): Promise<string | undefined> {
  return underMachineLease(deps, name, settings, { ms: 0 }, async (lease) => {
    const record = await deps.inventory.machine(name);
    if (!record) return 'nothing to do';
    for (let reads = 1; reads < stableReads; reads += 1) {
      await deps.clock.sleep(settings.timings.readEveryMs, signal);
      const again = await look(deps.driverFor, record.spec, settings.timings.bmcTimeoutMs, signal);
      if (again.power !== power) return 'power is not steady; looking again next time';
    }
    const now = deps.clock.now();
    const operation = newId('op', now);
    const event = surprise(record, power, operation, now);
    if (!event) return 'nothing to do';
    if (settings.dryRun && 'operation' in event) return 'would be powered off, but this is a dry run';
    const why = `found ${power}`;
    const intent = { id: operation, machine: name, goal: 'off', why, spec: record.input } as const;
    const result = await happen(deps.inventory, record, {
      event,
      by: 'power-action',
      why,
      observed: { powerState: power, bmcReachable: power !== 'unknown' },
      ...('operation' in event && { begins: { ...intent, createdAt: now, commands: [] } }),
      lease,
      settings,
      now,
    });
    if (result.kind !== 'changed') return result.kind === 'refused' ? result.why : 'changed meanwhile';
    const { from, to } = result;
    deps.log.info(
      { step: 'power', machine: name, from, to, story: `${why}: ${from} → ${to}` },
      'power changed without being asked',
    );
    await deps.sink.emit(machineEvent(tells(event, power), name));
    return why;
  });
}

function tells(event: MachineEvent, power: Power): string {
  if ('operation' in event) return events.powerRequested;
  return power === 'on' ? events.machinePowered : events.machineStopped;
}
