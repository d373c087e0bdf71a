import { untilNext } from '../limits/cron.ts';
import { failedAt, leftAt, poweredOnAt } from '../limits/times.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec, Settings } from '../settings.ts';

/** Something that is under way or due, as far as the state and the settings say. */
export interface Upcoming {
  readonly kind: 'boot' | 'drain' | 'power-off' | 'idle' | 'retry' | 'pause' | 'schedule';
  /** When it is expected; absent where that is not known. */
  readonly at?: number | undefined;
  readonly machine?: string | undefined;
  readonly pool: string;
  readonly why: string;
}

interface Fleet {
  readonly machines: readonly Machine[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
}

/** Schedules further ahead are not listed. */
const horizonMs = 24 * 3_600_000;

/** What comes next, the earliest first; what has no time comes last. */
export function outlookOf({ machines, pools, settings }: Fleet, now: number): Upcoming[] {
  const byPool = Map.groupBy(machines, ({ spec }) => spec.pool);
  const upcoming = pools.flatMap((pool) => {
    const members = byPool.get(pool.name) ?? [];
    const pauses = pausesOf(pool, members, settings, now);
    const open = Math.max(0, ...pauses.map(({ at = 0 }) => at));
    const dues = members.flatMap((machine) => dueOf(machine, pool, settings, open) ?? []);
    // A pause matters where something would leave.
    return [...dues, ...(dues.some(({ kind }) => kind === 'idle') ? pauses : []), ...schedulesOf(pool, now)];
  });
  const time = ({ at }: Upcoming): number => at ?? Number.POSITIVE_INFINITY;
  return upcoming.sort((a, b) => (time(a) === time(b) ? 0 : time(a) - time(b)));
}

function dueOf(machine: Machine, pool: PoolSpec, settings: Settings, open: number): Upcoming | undefined {
  const { spec, status, metrics } = machine;
  const named = { machine: spec.name, pool: spec.pool };
  if (capacityOf(machine) === 'coming') {
    const { learnedBootMs } = status;
    const begun = status.bootTime ?? status.stateSince;
    return learnedBootMs === undefined
      ? { ...named, kind: 'boot', why: 'first boot: its usual time is not known' }
      : { ...named, kind: 'boot', at: begun + learnedBootMs, why: 'usual boot time' };
  }
  if (status.state === 'draining') {
    const { podsLeft = 0, podsTotal = 0, waitingFor } = status.drain ?? {};
    const waits = waitingFor ? `, waits for ${waitingFor}` : '';
    return { ...named, kind: 'drain', why: `${podsLeft} of ${podsTotal} pods left${waits}` };
  }
  if (status.state === 'powering-off') return { ...named, kind: 'power-off', why: 'drained' };
  if (status.state === 'error' && status.retryAt !== undefined)
    return { ...named, kind: 'retry', at: status.retryAt, why: status.lastError?.message ?? 'quarantined' };
  const { idleSince } = metrics;
  if (status.state !== 'ready' || idleSince === undefined || idleSince < status.stateSince) return undefined;
  if (spec.powerState === 'on' || spec.maintenance || pool.managedBy !== 'bamel') return undefined;
  const patience = pool.scaleDown.unneededForMs ?? settings.unneededForMs;
  return {
    ...named,
    kind: 'idle',
    at: Math.max(idleSince + patience, open),
    why: 'no pod needs it',
  };
}

function pausesOf(
  pool: PoolSpec,
  members: readonly Machine[],
  { cooldowns }: Settings,
  now: number,
): Upcoming[] {
  const rows: readonly [string, number, (machine: Machine) => number][] = [
    ['power-on', cooldowns.afterScaleUpMs, poweredOnAt],
    ['power-off', cooldowns.afterScaleDownMs, leftAt],
    ['failure', cooldowns.afterFailureMs, failedAt],
  ];
  return rows.flatMap(([what, ms, timeOf]): Upcoming[] => {
    const at = members.reduce((latest, machine) => Math.max(latest, timeOf(machine)), 0) + ms;
    return ms > 0 && at > now
      ? [{ kind: 'pause', at, pool: pool.name, why: `no power-off so soon after a ${what}` }]
      : [];
  });
}

const schedulesOf = (pool: PoolSpec, now: number): Upcoming[] =>
  pool.schedule.flatMap(({ cron, timeZone, minNodes }): Upcoming[] => {
    const wait = untilNext(cron, now, timeZone);
    return wait === undefined || wait > horizonMs
      ? []
      : [{ kind: 'schedule', at: now + wait, pool: pool.name, why: `schedule ${cron} keeps ${minNodes} on` }];
  });
