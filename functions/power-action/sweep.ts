import { happen, observe } from '../../shared/adapters/changes.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import type { Power } from '../../shared/core/machine.ts';
import { surprise } from '../../shared/core/recover.ts';
import { type Settings, stableReads } from '../../shared/core/settings.ts';
import { newId } from '../../shared/runtime/ids.ts';
import { type Deps, underMachineLease } from '../deps.ts';
import { events, machineEvent } from '../events.ts';
import { look } from './look.ts';

/** Wrong credentials are not tried again soon: that would lock the account. */
const pauseAfterFinalMs = 1_800_000;

/** Looks at machines that nobody operates on, each once a while, and adopts what it finds. */
export function createSweep(deps: Deps): (record: MachineRecord, signal: AbortSignal) => Promise<string> {
  // A warm instance remembers when to look again; a cold one looks once more.
  const lookAgainAt = new Map<string, number>();
  return async (record, signal) => {
    const { name } = record.spec;
    const settings = await deps.inventory.settings();
    if (deps.clock.now() < (lookAgainAt.get(name) ?? 0)) return 'looked at recently';

    const { sweepEveryMs, bmcTimeoutMs } = settings.timings;
    // While one look is under way, the next tick does not begin another.
    lookAgainAt.set(name, deps.clock.now() + bmcTimeoutMs);
    const looked = await look(deps.driverFor, record.spec, settings.timings.bmcTimeoutMs, signal);
    if (looked.final) lookAgainAt.set(name, deps.clock.now() + Math.max(sweepEveryMs, pauseAfterFinalMs));
    else if (looked.power !== 'unknown') lookAgainAt.set(name, deps.clock.now() + sweepEveryMs);
    if (looked.problem && record.status.bmcReachable !== false)
      deps.log.warn({ step: 'sweep', machine: name, story: looked.problem }, 'power cannot be read');
    if (!surprise(record, looked.power, '', deps.clock.now())) {
      await observe(deps.inventory, record, { powerState: looked.power, bmcReachable: looked.reachable });
      return `power is ${looked.power}`;
    }
    // One read is no fact yet.
    for (let reads = 1; reads < stableReads; reads += 1) {
      await deps.clock.sleep(settings.timings.readEveryMs, signal);
      const again = await look(deps.driverFor, record.spec, settings.timings.bmcTimeoutMs, signal);
      if (again.power !== looked.power) return 'power is not steady; looking again next time';
    }
    return (await adopt(deps, name, looked.power, settings)) ?? 'another instance is at it';
  };
}

function adopt(deps: Deps, name: string, power: Power, settings: Settings): Promise<string | undefined> {
  return underMachineLease(deps, name, settings, { ms: 0 }, async (lease) => {
    const record = await deps.inventory.machine(name);
    const now = deps.clock.now();
    const operation = newId('op', now);
    const event = record && surprise(record, power, operation, now);
    if (!event) return 'nothing to do';
    if (settings.dryRun && 'operation' in event) return 'would be powered off, but this is a dry run';
    const why = `found ${power}`;
    const result = await happen(deps.inventory, record, {
      event,
      by: 'power-action',
      why,
      observed: { powerState: power, bmcReachable: power !== 'unknown' },
      ...('operation' in event && {
        begins: {
          id: operation,
          machine: name,
          goal: 'off',
          why,
          spec: record.input,
          createdAt: now,
          commands: [],
        },
      }),
      lease,
      settings,
      now,
    });
    if (result.kind !== 'changed') return result.kind === 'refused' ? result.why : 'changed meanwhile';
    deps.log.info(
      {
        step: 'power',
        machine: name,
        from: result.from,
        to: result.to,
        story: `found ${power}: ${result.from} → ${result.to}`,
      },
      'adopted',
    );
    await deps.sink.emit(
      machineEvent(
        'operation' in event
          ? events.powerRequested
          : power === 'on'
            ? events.machinePowered
            : events.machineStopped,
        name,
      ),
    );
    return `found ${power}`;
  });
}
