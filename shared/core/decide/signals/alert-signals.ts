import { capacityOf } from '../../machine/lifecycle.ts';
import type { Reason } from '../../reasons/reason.ts';
import type { Situation } from '../indexed-snapshot.ts';
import type { Want } from './demand-signals.ts';

/** How long a machine that joined since is given to calm the alert before the next is powered on. */
const helpsWithinMs = 300_000;

/** One more machine per pool while an alert fires for it: the next only once the last has had its time to help. */
export function alertWants({ pools, members, alerts, now }: Situation): Want[] {
  return pools.flatMap((pool) => {
    const firing = alerts?.find((one) => one.pool === pool.name && one.endedAt === undefined);
    if (!firing) return [];
    const machines = members.get(pool.name) ?? [];
    if (machines.some((machine) => capacityOf(machine) === 'coming')) return [];
    const lastJoin = machines.reduce((last, { status }) => Math.max(last, status.joinTime ?? 0), 0);
    if (lastJoin >= firing.since && now - lastJoin < helpsWithinMs) return [];
    return [{ pool: pool.name, why: { code: 'alert-fires', alert: firing.alert, pool: pool.name } }];
  });
}

/**
 * Pools that alerts keep on, and why. One that is over holds on for as long as a machine must be unneeded: that it is
 * over may only mean that nobody measures any more.
 */
export function alertGates({ pools, alerts, settings, now }: Situation): Map<string, Reason> {
  const gates = new Map<string, Reason>();
  for (const { name, scaleDown } of pools) {
    const holdMs = scaleDown.unneededForMs ?? settings.unneededForMs;
    for (const { pool, alert, endedAt } of alerts ?? []) {
      if (pool !== name) continue;
      if (endedAt === undefined) gates.set(name, { code: 'alert-fires', alert, pool });
      else if (now - endedAt < holdMs && !gates.has(name))
        gates.set(name, { code: 'alert-fired', alert, pool, withinMs: holdMs });
    }
  }
  return gates;
}
