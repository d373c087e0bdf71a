import type { Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf, lifecycle } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { transition } from '../machine/transition.ts';

/** Machines that could be powered on, and why the others that give no capacity cannot. */
export interface Eligible {
  readonly machines: readonly Machine[];
  readonly rejected: ReadonlyMap<string, string>;
}

export function eligibleMachines(situation: Situation): Eligible {
  const machines: Machine[] = [];
  const rejected = new Map<string, string>();
  for (const machine of situation.machines) {
    if (capacityOf(machine) !== 'none') continue;
    const why = whyNot(machine, situation);
    if (why) rejected.set(machine.spec.name, why);
    else machines.push(machine);
  }
  return { machines, rejected };
}

function whyNot(machine: Machine, { settings, poolOf, now }: Situation): string | undefined {
  const { spec, status, metrics } = machine;
  const pool = poolOf.get(spec.pool);
  if (!pool) return `its pool ${spec.pool} is not defined`;
  if (pool.managedBy !== 'bamel') return leftToOthers(pool.name);
  const { on, means } = lifecycle[status.state];
  if (!on['power-on-requested']) return status.lastError ? `${means}: ${status.lastError.message}` : means;
  const asked = transition(machine, { type: 'power-on-requested', operation: '' }, now, settings.timings);
  if (!asked.ok) return asked.why;
  if (spec.powerState === 'off') return 'it is to stay off (powerState: off)';
  if (spec.made) return 'it was made on demand and is being given back';
  if (status.bmcReachable === false) return 'its BMC does not answer';
  if (status.powerState !== 'off') return `its power is ${status.powerState}: not known to be off`;
  if (metrics.health === 'critical') return `it is unhealthy: ${metrics.problems?.join(', ') ?? 'critical'}`;
  return undefined;
}

export const leftToOthers = (pool: string): string => `pool ${pool} is left to the Cluster Autoscaler`;
