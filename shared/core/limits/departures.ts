import { nodeOfMachine, type Situation } from '../decide/indexed-snapshot.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Budget, DisruptionReason, PoolSpec } from '../settings.ts';
import { failedAt, leftAt, poweredOnAt } from './times.ts';
import { isOpen, type Minimum } from './windows.ts';

/** How many more may be sent away in this decision. */
export interface Departures {
  /** Why nothing of the machine's pool may leave now, whatever the machine; or nothing. */
  halted(pool: PoolSpec): Reason | undefined;
  /** Why this one may not leave beside those that already do, or nothing. */
  refusal(machine: Machine, pool: PoolSpec, reason: DisruptionReason): Reason | undefined;
  take(machine: Machine): void;
}

export function createDepartures(
  situation: Situation,
  minimums: ReadonlyMap<string, Minimum>,
  /** Pools whose triggers say that nothing leaves, and why. */
  gates: ReadonlyMap<string, Reason>,
): Departures {
  const { machines, members, settings, now, cluster } = situation;
  const of = (pool: string): readonly Machine[] => members.get(pool) ?? [];
  const taken = new Map<string, number>();
  const takenIn = (pool: string): number => taken.get(pool) ?? 0;
  const takenInAll = (): number => [...taken.values()].reduce((sum, each) => sum + each, 0);
  const readyNodes = cluster.nodes.filter(({ ready }) => ready).length;
  const halts = new Map(
    situation.pools.map((pool) => [pool.name, haltOf(pool, of(pool.name), situation, gates.get(pool.name))]),
  );
  const everyone = tally(machines);
  const tallies = new Map(situation.pools.map(({ name }) => [name, tally(of(name))]));
  const open = (budgets: readonly Budget[]): readonly Budget[] =>
    budgets.filter(({ window }) => window === undefined || isOpen(window, now));
  const clusterBudgets = open(settings.budgets);
  const poolBudgets = new Map(situation.pools.map(({ name, budgets }) => [name, open(budgets)]));

  return {
    halted: ({ name }) => halts.get(name),
    refusal: (_machine, pool, reason) => {
      const { serving = 0, leaving = 0 } = tallies.get(pool.name) ?? {};
      const gone = takenIn(pool.name);
      const minimum = minimums.get(pool.name);
      if (minimum && serving - gone <= minimum.nodes) return minimum.why;
      if (minimum?.keep && serving - gone <= minimum.keep.nodes) return minimum.keep.why;
      const { maxConcurrent } = pool.scaleDown;
      if (maxConcurrent > 0 && leaving + gone >= maxConcurrent)
        return { code: 'max-concurrent', pool: pool.name, most: maxConcurrent };
      const byPool = overBudget(poolBudgets.get(pool.name) ?? [], reason, serving + leaving, leaving + gone);
      if (byPool) return { code: 'disruption-budget', budget: byPool, pool: pool.name };
      const inAll = takenInAll();
      const byCluster = overBudget(
        clusterBudgets,
        reason,
        everyone.serving + everyone.leaving,
        everyone.leaving + inAll,
      );
      if (byCluster) return { code: 'disruption-budget', budget: byCluster };
      return readyNodes - inAll <= 1 ? { code: 'last-ready-node' } : undefined;
    },
    take: ({ spec }) => taken.set(spec.pool, takenIn(spec.pool) + 1),
  };
}

function tally(machines: readonly Machine[]): { readonly serving: number; readonly leaving: number } {
  const with_ = (capacity: string): number =>
    machines.filter((machine) => capacityOf(machine) === capacity).length;
  return { serving: with_('serving'), leaving: with_('leaving') };
}

/** A share is rounded up, as Karpenter does: 10 % of five machines is one. */
function overBudget(
  budgets: readonly Budget[],
  reason: DisruptionReason,
  on: number,
  leaving: number,
): string | undefined {
  for (const { nodes, reasons } of budgets) {
    if (reasons && !reasons.includes(reason)) continue;
    const allowed = 'count' in nodes ? nodes.count : Math.ceil(nodes.share * on);
    if (leaving >= allowed)
      return 'count' in nodes ? String(nodes.count) : `${Math.round(nodes.share * 100)}%`;
  }
  return undefined;
}

/** What stops a whole pool from shrinking: others go on. */
function haltOf(
  pool: PoolSpec,
  members: readonly Machine[],
  situation: Situation,
  gate: Reason | undefined,
): Reason | undefined {
  const { settings, now } = situation;
  const serving = members.filter((machine) => capacityOf(machine) === 'serving');
  const unready = serving.filter((machine) => !nodeOfMachine(situation, machine)?.ready).length;
  const { count, share } = settings.unready;
  if (unready > count && unready > share * serving.length)
    return { code: 'pool-unready', pool: pool.name, unready, serving: serving.length };
  const { afterScaleUpMs, afterScaleDownMs, afterFailureMs } = settings.cooldowns;
  const pauses: readonly ['power-on' | 'power-off' | 'failure', number, (machine: Machine) => number][] = [
    ['power-on', afterScaleUpMs, poweredOnAt],
    ['power-off', afterScaleDownMs, leftAt],
    ['failure', afterFailureMs, failedAt],
  ];
  for (const [after, pauseMs, at] of pauses) {
    if (pauseMs === 0) continue;
    const last = members.reduce((latest, machine) => Math.max(latest, at(machine)), 0);
    if (last > 0 && now - last < pauseMs)
      return { code: 'cooldown', pool: pool.name, after, pauseMs, leftMs: pauseMs - (now - last) };
  }
  return gate;
}
