import { observe } from '../../shared/adapters/changes.ts';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { surprise } from '../../shared/core/recover.ts';
import type { Deps } from '../deps.ts';
import { adopt } from './adopt.ts';
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
    return (await adopt(deps, name, looked.power, settings, signal)) ?? 'another instance is at it';
  };
}
