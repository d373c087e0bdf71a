import type { Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf, lifecycle } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { transition } from '../machine/transition.ts';
import type { Reason } from '../reasons/reason.ts';

/** Machines that could be powered on, and why the others that give no capacity cannot. */
export interface Eligible {
  readonly machines: readonly Machine[];
  readonly rejected: ReadonlyMap<string, Reason>;
}

export function eligibleMachines(situation: Situation): Eligible {
  const machines: Machine[] = [];
  const rejected = new Map<string, Reason>();
  for (const machine of situation.machines) {
    if (capacityOf(machine) !== 'none') continue;
    const why = whyNot(machine, situation);
    if (why) rejected.set(machine.spec.name, why);
    else machines.push(machine);
  }
  return { machines, rejected };
}

function whyNot(machine: Machine, { settings, poolOf, now }: Situation): Reason | undefined {
  const { spec, status, metrics } = machine;
  const pool = poolOf.get(spec.pool);
  if (!pool) return { code: 'pool-undefined', pool: spec.pool };
  if (pool.managedBy !== 'bamel') return leftToOthers(pool.name);
  const { on, means } = lifecycle[status.state];
  if (!on['power-on-requested'])
    return { code: 'in-state', state: status.state, means, error: status.lastError?.message };
  const asked = transition(machine, { type: 'power-on-requested', operation: '' }, now, settings.timings);
  if (!asked.ok) return asked.reason;
  if (spec.made) return { code: 'returning' };
  if (status.bmcReachable === false) return { code: 'bmc-silent' };
  if (status.powerState !== 'off')
    return { code: 'power-not-known', power: status.powerState, needed: 'off' };
  if (metrics.health === 'critical')
    return { code: 'unhealthy', problems: metrics.problems?.join(', ') ?? 'critical' };
  return undefined;
}

export const leftToOthers = (pool: string): Reason => ({ code: 'left-to-cluster-autoscaler', pool });
