import type { Pod } from '../../cluster/cluster.ts';
import type { PoolForecast } from '../../forecast/pool-forecast.ts';
import { poweredOnAt } from '../../limits/times.ts';
import { type Minimum, minimumOf } from '../../limits/windows.ts';
import { capacityOf } from '../../machine/lifecycle.ts';
import type { Machine } from '../../machine/machine.ts';
import type { Reason } from '../../reasons/reason.ts';
import type { Pressed } from '../../scale-up/policies.ts';
import type { PoolSpec, Trigger } from '../../settings.ts';
import { nodeOfMachine, podsOf, type Situation } from '../indexed-snapshot.ts';
import type { TriggerReading } from '../snapshot.ts';
import { pressuresOf } from './pressure.ts';

/** A request for one more machine that is not a waiting pod. */
export interface Want {
  /** Of this pool; of any when it is not known whose. */
  readonly pool?: string | undefined;
  readonly why: Reason;
  readonly pressure?: Pressed | undefined;
  /** It must be of use to one of them; to nobody in particular when there are none. */
  readonly pods?: readonly Pod[] | undefined;
}

const usualBootMs = 300_000;

/** What every pool keeps on, schedules and forecasts included. */
export function minimumsOf({ pools, members, now, forecasts }: Situation): Map<string, Minimum> {
  return new Map(
    pools.map((pool) => {
      const boots = (members.get(pool.name) ?? []).map(({ status }) => status.learnedBootMs ?? usualBootMs);
      const minimum = minimumOf(pool, now, Math.max(0, ...boots));
      const forecast = forecasts?.find((one) => one.pool === pool.name);
      return [pool.name, forecast ? withForecast(minimum, forecast) : minimum];
    }),
  );
}

/** A forecast adds to what is on, or keeps it; it takes nothing away. */
const withForecast = (minimum: Minimum, forecast: PoolForecast): Minimum => ({
  ...(forecast.atLeast > minimum.nodes
    ? { nodes: forecast.atLeast, why: { code: 'forecast-ahead', ...forecast } }
    : minimum),
  keep: { nodes: forecast.keep, why: { code: 'forecast-keeps', ...forecast } },
});

type Standing = 'holds' | 'not yet' | 'no';

/** How a reading stands to its trigger. No data, or what is no number, says nothing. */
function standing(
  { threshold, durationMs, scaleDirection }: Trigger,
  reading: TriggerReading | undefined,
  now: number,
): Standing {
  if (reading?.value === undefined || !Number.isFinite(reading.value)) return 'no';
  const beyond = scaleDirection === 'up' ? reading.value > threshold : reading.value < threshold;
  if (!beyond) return 'no';
  return now - reading.since >= durationMs ? 'holds' : 'not yet';
}

const readingOf = ({ triggers }: Situation, pool: PoolSpec, trigger: Trigger): TriggerReading | undefined =>
  triggers?.find((reading) => reading.pool === pool.name && reading.trigger === trigger.name);

/** One more machine per pool while a trigger holds: the next only once the last has had its time to help. */
export function triggerWants(situation: Situation): Want[] {
  const { pools, members, now } = situation;
  return pools.flatMap((pool) => {
    const machines = members.get(pool.name) ?? [];
    if (machines.some((machine) => capacityOf(machine) === 'coming')) return [];
    const lastJoin = machines.reduce((last, { status }) => Math.max(last, status.joinTime ?? 0), 0);
    const firing = pool.triggers.find((trigger) => {
      if (trigger.scaleDirection !== 'up') return false;
      const reading = readingOf(situation, pool, trigger);
      return standing(trigger, reading, now) === 'holds' && now - lastJoin >= trigger.durationMs;
    });
    const value = firing && readingOf(situation, pool, firing)?.value;
    return firing
      ? [
          {
            pool: pool.name,
            why: {
              code: 'trigger-holds' as const,
              pool: pool.name,
              trigger: firing.name,
              value,
              threshold: firing.threshold,
              forMs: firing.durationMs,
            },
          },
        ]
      : [];
  });
}

/** Pools whose triggers keep everything on, and why. An alert that is over is no reason to power anything off. */
export function triggerGates(situation: Situation): Map<string, Reason> {
  const gates = new Map<string, Reason>();
  for (const pool of situation.pools)
    for (const trigger of pool.triggers) {
      const reading = readingOf(situation, pool, trigger);
      const state = standing(trigger, reading, situation.now);
      const about = { pool: pool.name, trigger: trigger.name, threshold: trigger.threshold };
      if (trigger.scaleDirection === 'up' && state !== 'no')
        gates.set(pool.name, { code: 'trigger-above', ...about });
      if (trigger.scaleDirection === 'up' && reading?.unknown)
        gates.set(pool.name, { code: 'trigger-unknown', ...about });
      if (trigger.scaleDirection === 'down' && state !== 'holds')
        gates.set(pool.name, { code: 'trigger-not-below', ...about, forMs: trigger.durationMs });
    }
  return gates;
}

/** What pressure keeps in service: a machine that is hardly used, for pods of the pressed node to go to. */
export interface Relief {
  readonly wants: readonly Want[];
  /** Machines that stay on for it, and why. */
  readonly kept: ReadonlyMap<string, Reason>;
  /** Pressure that no machine would help against, and why. */
  readonly notes: readonly Reason[];
}

/** One hardly used machine per pool under pressure: the one that is there is kept, else one is wanted. */
export function relieve(situation: Situation, useOf: (machine: Machine) => number): Relief {
  const wants: Want[] = [];
  const kept = new Map<string, Reason>();
  const seen = new Set<string | undefined>();
  const { pressures, notes } = pressuresOf(situation);
  for (const { node, category, why, pods } of pressures) {
    const own = situation.machineOfNode.get(node);
    const pool = own?.spec.pool;
    if (seen.has(pool)) continue;
    seen.add(pool);
    const machines = pool === undefined ? situation.machines : (situation.members.get(pool) ?? []);
    const spare = machines.find(
      (machine) =>
        machine !== own &&
        capacityOf(machine) === 'serving' &&
        nodeOfMachine(situation, machine)?.ready &&
        useOf(machine) < situation.settings.scaleDownThreshold,
    );
    if (spare) kept.set(spare.spec.name, { code: 'kept-for-pressure', pressure: why });
    else if (!machines.some((machine) => capacityOf(machine) === 'coming'))
      wants.push({
        pool,
        why,
        pods,
        pressure: {
          category,
          size: situation.nodes.get(node)?.allocatable ?? {},
          weights: situation.settings.pressure,
        },
      });
  }
  return { wants, kept, notes };
}

/** kube-scheduler tries every waiting pod again within five minutes, whatever happens. */
const schedulerRetryMs = 300_000;

/**
 * Pods that the scheduler keeps refusing although there seems to be room: something that is not judged here stands in
 * their way. Where a pool is nearly full, another machine is the likeliest help.
 */
export function refusedWants(
  situation: Situation,
  refused: readonly {
    readonly createdAt: number;
    readonly pods: number;
    readonly on: Machine | undefined;
  }[],
  useOfPool: (pool: PoolSpec) => number,
): Want[] {
  const { pools, members, settings, now } = situation;
  const waiting = refused.filter(({ createdAt }) => now - createdAt >= schedulerRetryMs);
  return pools.flatMap((pool) => {
    const pods = waiting.reduce(
      (sum, { on, pods: some }) => sum + (on?.spec.pool === pool.name ? some : 0),
      0,
    );
    const machines = members.get(pool.name) ?? [];
    const recent = machines.some(
      (machine) =>
        capacityOf(machine) === 'coming' ||
        now - (machine.status.joinTime ?? poweredOnAt(machine)) < schedulerRetryMs,
    );
    const limit = pool.scaleUp.threshold ?? settings.scaleUpThreshold;
    const use = useOfPool(pool);
    if (pods === 0 || recent || use <= limit) return [];
    const why: Reason = {
      code: 'scheduler-refuses',
      pool: pool.name,
      use,
      pods,
      forMs: schedulerRetryMs,
    };
    return [{ pool: pool.name, why }];
  });
}

/** The largest share of cpu, memory or GPUs that pods ask for on these machines together. */
export function useOf(situation: Situation, machines: readonly Machine[]): number {
  const used = { cpu: 0, memory: 0, gpu: 0 };
  const has = { cpu: 0, memory: 0, gpu: 0 };
  for (const machine of machines) {
    const node = nodeOfMachine(situation, machine);
    if (!node) continue;
    has.cpu += node.allocatable.cpu ?? 0;
    has.memory += node.allocatable.memory ?? 0;
    has.gpu += node.allocatable['nvidia.com/gpu'] ?? 0;
    for (const pod of podsOf(situation, node.name)) {
      if (pod.belongsToNode && !situation.settings.countDaemonSets) continue;
      used.cpu += pod.requests.cpu ?? 0;
      used.memory += pod.requests.memory ?? 0;
      used.gpu += pod.requests['nvidia.com/gpu'] ?? 0;
    }
  }
  const share = (name: 'cpu' | 'memory' | 'gpu'): number => (has[name] > 0 ? used[name] / has[name] : 0);
  return Math.max(share('cpu'), share('memory'), share('gpu'));
}
