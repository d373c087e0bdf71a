import type { ClusterView } from '../../shared/core/cluster/cluster.ts';
import { planDrain } from '../../shared/core/cluster/drain-plan.ts';
import type { Match } from '../../shared/core/cluster/match.ts';
import type { Matches } from '../../shared/core/cluster/match-all.ts';
import { protection } from '../../shared/core/cluster/protect.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import { manyLost, type RecoveryStep, recoveryOf } from '../../shared/core/machine/node-recovery.ts';
import type { Reason } from '../../shared/core/reasons/reason.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { createStateClock } from '../../shared/state/state-clock.ts';
import type { Deps } from '../deps.ts';

/** Input of one run. */
interface WatchInput {
  readonly deps: Deps;
  readonly records: readonly MachineRecord[];
  readonly pools: readonly PoolSpec[];
  readonly settings: Settings;
  readonly view: ClusterView;
  readonly matches: Matches;
  /** Start of a state, by this process's clock. */
  readonly sinceWhen: ReturnType<typeof createStateClock>;
  readonly signal: AbortSignal;
}

/** The input of a run with values computed once for all machines. */
export interface WatchContext extends WatchInput {
  /** Why recovery is halted. */
  readonly halted: Reason | undefined;
  /** Number of power cycles in the last hour, by pool. */
  readonly cycles: ReadonlyMap<string, number>;
  readonly problems: ReadonlyMap<string | undefined, string>;
}

const hourMs = 3_600_000;

export function watchContext(sight: WatchInput): WatchContext {
  const { records, matches, settings, deps } = sight;
  const since = deps.clock.now() - hourMs;
  const cycles = new Map<string, number>();
  for (const { spec, history } of records)
    for (const { at, by, event } of history)
      if (at > since && by === 'join-watcher' && event === 'power-off-requested')
        cycles.set(spec.pool, (cycles.get(spec.pool) ?? 0) + 1);
  const isReady = ({ spec }: Machine): boolean =>
    matches.unclear.has(spec.name) || matches.byMachine.get(spec.name)?.node.ready === true;
  return {
    ...sight,
    cycles,
    halted: manyLost(records, isReady, settings),
    problems: new Map(matches.findings.map(({ machine, text }) => [machine, text])),
  };
}

export const poolOf = ({ pools }: WatchContext, { spec }: MachineRecord): PoolSpec | undefined =>
  pools.find(({ name }) => name === spec.pool);

export const matchOf = ({ matches }: WatchContext, { spec }: MachineRecord): Match | undefined =>
  matches.byMachine.get(spec.name);

/** The recovery step for a serving machine whose node is not Ready. */
export function stepFor(context: WatchContext, record: MachineRecord): RecoveryStep {
  const { deps, settings, view, matches, sinceWhen } = context;
  const { spec, status } = record;
  const pool = poolOf(context, record);
  const node = matchOf(context, record)?.node;
  if (!pool || capacityOf(record) !== 'serving' || node?.ready || matches.unclear.has(spec.name))
    return { kind: 'wait' };
  if (status.unreadySince === undefined) return { kind: 'wait' };
  const now = deps.clock.now();
  const unready = sinceWhen(spec.name, { ...status, stateSince: status.unreadySince });
  const pods = node ? view.pods.filter((pod) => pod.node === node.name) : [];
  const drainContext = { settings, now, budgets: view.budgets ?? [], refusals: new Map() };
  return recoveryOf(
    {
      machine: record,
      node,
      unreadyForMs: now - unready,
      recovery: pool.recovery,
      podInTheWay: planDrain(pods, drainContext).hopeless,
      protection: node && protection(record, node, settings.protect, deps.ownNode),
      cycles: context.cycles.get(pool.name) ?? 0,
    },
    context.halted,
  );
}
