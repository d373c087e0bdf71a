import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Considered } from '../../shared/core/decide/decide.ts';
import { podName, type Snapshot } from '../../shared/core/decide/snapshot.ts';
import { capacityOf } from '../../shared/core/machine/lifecycle.ts';
import type { Machine } from '../../shared/core/machine/machine.ts';
import { textOf } from '../../shared/core/reasons/reason.ts';
import type { PoolSpec } from '../../shared/core/settings.ts';
import { type Board, createBoard, type Spot } from './board.ts';
import { type Book, createBook, type Shape } from './book.ts';
import { demandOf, isEligible } from './eligible.ts';
import type { Finding } from './finding.ts';
import { createLimits, type Limits } from './limits.ts';
import { createSpotSource, type SpotSource } from './spots.ts';

export type Judged = Pick<Considered, 'intents' | 'record' | 'candidates' | 'assignments'>;

/** A pod that the decision counts on to go somewhere. */
export interface Placed {
  readonly pod: Pod;
  readonly shape: Shape;
  readonly spot: Spot;
}

/** A decision in the cluster that it was made for: nodes, coming and chosen machines, and all pods that run. */
export interface Case {
  readonly snapshot: Snapshot;
  readonly now: number;
  readonly decision: Judged;
  readonly book: Book;
  readonly board: Board;
  readonly source: SpotSource;
  readonly poolOf: ReadonlyMap<string, PoolSpec>;
  /** With what the decision powers on already taken. */
  readonly limits: Limits;
  readonly chosen: readonly Machine[];
  /** Machines that could have been powered on, and were not. */
  readonly spare: readonly Machine[];
  readonly demand: readonly Pod[];
  readonly assigned: readonly Placed[];
  /** Demand that is assigned nowhere. */
  readonly left: readonly Pod[];
  readonly findings: Finding[];
}

export function createCase(snapshot: Snapshot, now: number, decision: Judged): Case {
  const { cluster, machines, pools } = snapshot;
  const findings: Finding[] = [];
  const book = createBook(snapshot);
  const board = createBoard(book);
  const source = createSpotSource(snapshot, now);
  const poolOf = new Map(pools.map((pool) => [pool.name, pool]));
  const of = (kind: string): Set<string> =>
    new Set(decision.intents.filter((one) => one.kind === kind).map(({ machine }) => machine));
  const powerOns = of('power-on');
  const reopened = of('cancel-drain');

  const daemonsOn = new Map<string, Set<string>>();
  for (const { node, finished, owner, namespace } of cluster.pods)
    if (node && !finished && owner?.kind === 'DaemonSet')
      daemonsOn.set(node, (daemonsOn.get(node) ?? new Set()).add(`${namespace}/${owner.name}`));
  for (const node of cluster.nodes) {
    const facts = source.ofNode(node);
    const back = facts.machine && reopened.has(facts.machine.spec.name) && node.ready;
    board.add(
      board.draft(back ? { ...facts, shut: false, cordoned: false } : facts, daemonsOn.get(node.name)),
    );
  }
  for (const machine of machines)
    if (
      capacityOf(machine) === 'coming' &&
      !source.machineOfNode.has(machine.status.kubernetesNode ?? machine.spec.name)
    )
      board.add(board.draft(source.ofMachine(machine)));
  for (const pod of cluster.pods) {
    const spot = pod.finished ? undefined : board.spots.get(pod.node ?? pod.nominatedNode ?? '');
    if (spot) board.put(book.shapeOf(pod), spot, 1);
  }

  const limits = createLimits(snapshot, now);
  const before = new Map(limits.all.map((limit) => [limit, limit.used]));
  const chosen: Machine[] = [];
  for (const machine of machines) {
    const { spec } = machine;
    if (!powerOns.has(spec.name)) continue;
    chosen.push(machine);
    limits.take(spec);
    if (!isEligible(machine, poolOf.get(spec.pool), now))
      findings.push({ code: 'power-on-ineligible', machine: spec.name, text: 'may not be powered on' });
    // What ran on a node that is away does not come back with it.
    board.add(board.draft(source.ofMachine(machine)));
  }
  for (const limit of limits.all)
    if (limit.used > limit.most && limit.used > (before.get(limit) ?? 0))
      findings.push({
        code: 'limit-exceeded',
        text: `${textOf(limit.reason)}: ${limit.used} of ${limit.most}`,
      });

  const demand = demandOf(snapshot);
  const byName = new Map(demand.map((pod) => [podName(pod), pod]));
  const drained = of('drain');
  const seen = new Set<string>();
  const assigned: Placed[] = [];
  for (const { pods, on } of decision.assignments()) {
    const spot = board.spots.get(on);
    const leaves = spot?.facts.machine && drained.has(spot.facts.machine.spec.name);
    for (const name of pods) {
      const pod = byName.get(name);
      if (!pod) findings.push({ code: 'pod-unknown', pod: name, text: 'is no waiting pod' });
      else if (seen.has(name)) findings.push({ code: 'pod-twice', pod: name, text: `again on ${on}` });
      else if (!spot) findings.push({ code: 'place-unknown', pod: name, text: `${on} is no place` });
      else if (spot.shut || leaves)
        findings.push({ code: 'place-shut', pod: name, text: `${on} takes no pods, or leaves` });
      else assigned.push({ pod, shape: book.shapeOf(pod), spot });
      seen.add(name);
    }
  }
  return {
    snapshot,
    now,
    decision,
    book,
    board,
    source,
    poolOf,
    limits,
    chosen,
    spare: machines.filter(
      (one) => !powerOns.has(one.spec.name) && isEligible(one, poolOf.get(one.spec.pool), now),
    ),
    demand,
    assigned,
    left: demand.filter((pod) => !seen.has(podName(pod))),
    findings,
  };
}
