import type { Node, Pod } from '../cluster/cluster.ts';
import { protection } from '../cluster/protect.ts';
import { blocked, keepsNobody } from '../decide/blockers.ts';
import type { Candidate, Decision, Intent } from '../decide/decision.ts';
import { nodeOfMachine, podsOf, type Situation } from '../decide/indexed-snapshot.ts';
import { alertGates } from '../decide/signals/alert-signals.ts';
import { type Relief, triggerGates, useOf } from '../decide/signals/demand-signals.ts';
import { podName } from '../decide/snapshot.ts';
import { breakEvenMs } from '../energy/boot-energy.ts';
import { createDepartures, type Departures } from '../limits/departures.ts';
import { type Budgets, createBudgets } from '../limits/disruption-budgets.ts';
import type { Minimum } from '../limits/windows.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { transition } from '../machine/transition.ts';
import { createWithdrawer, slicesToGoBack } from '../remote/return-slices.ts';
import { leftToOthers } from '../scale-up/candidates.ts';
import { shortOfHeadroom } from '../scale-up/headroom.ts';
import type { ScaleUp } from '../scale-up/scale-up.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, mark, type Place, rollback, type World } from '../simulate/simulated-cluster.ts';
import { plural, seconds } from '../text.ts';
import { inTurn, targetsOf } from './drain-order.ts';
import { mostThatCanLeave } from './recreate.ts';
import { createMover, type Mover } from './relocate-pods.ts';
import { createReplacer } from './replace.ts';

export interface ScaleDown {
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  readonly limits: readonly string[];
  readonly idle: Decision['idle'];
}

/** A machine that serves, and what would have to move if it did not. */
export interface Server {
  readonly machine: Machine;
  readonly pool: PoolSpec;
  readonly node: Node;
  readonly place: Place;
  readonly pods: readonly Pod[];
  readonly use: number;
}

export interface Round {
  readonly situation: Situation;
  readonly world: World;
  readonly departures: Departures;
  readonly budgets: Budgets;
  readonly mover: Mover;
  readonly relief: Relief;
  /** Places that pods are counted on to come to. */
  readonly promised: Set<Place>;
}

/** Machines that nobody has needed for long enough → drain. Every pod of theirs has a place elsewhere. */
export function scaleDown(
  situation: Situation,
  world: World,
  minimums: ReadonlyMap<string, Minimum>,
  relief: Relief,
  up: ScaleUp,
): ScaleDown {
  const intents: Intent[] = [];
  const candidates: Candidate[] = [];
  const limits = new Set<string>();
  const idle: { machine: string; idleSince: number | undefined }[] = [];
  const kept = (machine: Machine, why: string): void => {
    candidates.push({ machine: machine.spec.name, verdict: 'kept', why });
  };
  const remember = ({ spec, metrics }: Machine, idleSince: number | undefined): void => {
    if (idleSince !== metrics.idleSince) idle.push({ machine: spec.name, idleSince });
  };

  const servers: Server[] = [];
  for (const machine of situation.machines) {
    if (capacityOf(machine) !== 'serving') continue;
    const server = toServer(situation, world, machine);
    if (typeof server !== 'string') servers.push(server);
    else {
      // Whatever it was idle for does not count: what runs on it now is not known.
      remember(machine, undefined);
      kept(machine, server);
    }
  }
  const withdrawn = slicesToGoBack(situation);
  servers.sort(inTurn((machine) => withdrawn.has(machine)));
  const round: Round = {
    situation,
    world,
    departures: createDepartures(
      situation,
      minimums,
      new Map([...alertGates(situation), ...triggerGates(situation)]),
    ),
    budgets: createBudgets(situation.cluster.budgets),
    mover: createMover(world, targetsOf(world, servers)),
    relief,
    promised: new Set(up.promised.flatMap((name) => world.byNode.get(name) ?? [])),
  };
  const start = mark(world);
  const targets = targetsOf(world, servers);
  /** Machines that leave unless it turns out that their pods might be stranded; slices that go back leave anyway. */
  const leaving: { readonly server: Server; readonly why?: string }[] = [];
  const replacer = createReplacer(situation, world, up);
  const withdrawer = createWithdrawer(round, up, withdrawn);
  for (const server of servers) {
    const { machine, pods } = server;
    const given = withdrawer.giveBack(server, {
      needed: () => blockedBy(round, server),
      limited: () =>
        round.departures.halted(server.pool) ?? round.departures.refusal(machine, server.pool, 'replaced'),
      moveAway: (leaves) => moveAway(round, server, leaves),
    });
    if (given) {
      remember(machine, undefined);
      intents.push(...given.intents);
      candidates.push(...given.candidates);
      if (given.intents.some(({ kind }) => kind === 'drain')) leaving.push({ server });
      continue;
    }
    const idleSince = idleAlready(machine, situation.now);
    const needed = whyNeeded(round, server);
    if (needed !== undefined) {
      remember(machine, undefined);
      kept(machine, needed);
      continue;
    }
    const due = tooSoon(round, server, idleSince);
    const limit = due ?? round.departures.halted(server.pool) ?? whyLimited(round, server);
    const stuck = moveAway(round, server, limit === undefined);
    if (stuck !== undefined) {
      const instead = replacer.replace(server, due);
      if (instead?.intent) {
        intents.push(instead.intent.intent);
        candidates.push(instead.intent.candidate);
      }
      remember(machine, instead && idleSince);
      kept(machine, instead?.why ?? stuck);
      continue;
    }
    remember(machine, idleSince);
    if (limit !== undefined) {
      if (limit !== due) limits.add(limit);
      kept(machine, limit);
      continue;
    }
    const unused = byHand(machine)
      ? 'it is to be off (powerState: off)'
      : `nothing has needed it for ${seconds(situation.now - idleSince)}`;
    const why = `${unused}${pods.length > 0 ? `: its ${pods.length} ${plural(pods.length, 'pod')} fit elsewhere` : ''}`;
    leaving.push({ server, why });
  }
  rollback(world, start);
  const coming = new Set(intents.filter(({ kind }) => kind === 'power-on').map(({ machine }) => machine));
  for (const machine of situation.machines) if (coming.has(machine.spec.name)) addMachine(world, machine);
  const most = mostThatCanLeave(
    world,
    targets,
    leaving.map(({ server: { place, pods } }) => ({ place, pods, counts: round.mover.countsOf(pods) })),
  );
  for (const [index, { server, why }] of leaving.entries()) {
    if (why === undefined) continue;
    const { spec } = server.machine;
    if (index >= most) {
      kept(server.machine, strandsPods);
      continue;
    }
    intents.push({ kind: 'drain', machine: spec.name, why });
    candidates.push({ machine: spec.name, verdict: 'drain', why, watts: spec.watts?.idle });
  }
  return { intents, candidates, limits: [...limits], idle };
}

const strandsPods =
  'its pods fit elsewhere, but with those of the others that leave now only in some orders: kept for now';

/** A person wants it off: how little it is used and for how long does not matter. */
const byHand = ({ spec }: Machine): boolean => spec.powerState === 'off';

function toServer(situation: Situation, world: World, machine: Machine): Server | string {
  const { settings, poolOf, now, ownNode } = situation;
  const pool = poolOf.get(machine.spec.pool);
  if (!pool) return `its pool ${machine.spec.pool} is not defined`;
  if (pool.managedBy !== 'bamel') return leftToOthers(pool.name);
  const node = nodeOfMachine(situation, machine);
  const place = node && world.byNode.get(node.name);
  if (!node || !place) return 'its node is not in the cluster';
  if (!node.ready) return 'its node is not Ready: what runs on it is not known';
  const shielded = protection(machine, node, settings.protect, ownNode);
  if (shielded) return shielded;
  const asked = transition(machine, { type: 'drain-requested', operation: '' }, now, settings.timings);
  if (!asked.ok) return asked.why;
  const pods = podsOf(situation, node.name).filter((pod) => !keepsNobody(pod, settings));
  return { machine, pool, node, place, pods, use: useOf(situation, [machine]) };
}

/** Why the machine is needed as it is, whatever room there is elsewhere. */
function whyNeeded(round: Round, server: Server): string | undefined {
  const { settings } = round.situation;
  const { machine, pool, pods, use } = server;
  const first = blockedBy(round, server);
  if (first) return first;
  if (byHand(machine)) return undefined;
  const threshold = pool.scaleDown.threshold ?? settings.scaleDownThreshold;
  if (pods.length > 0 && use > threshold)
    return `${Math.round(use * 100)} % of it are in use, for one by ${firstOf(pods.map(podName)) ?? ''}`;
  if (settings.requireProvenCycle && machine.status.provenAt === undefined && !machine.spec.made)
    return `not proven yet to come back from off: bamel test-power ${machine.spec.name}`;
  return round.relief.kept.get(machine.spec.name);
}

/** Why nothing may be moved away from it. */
function blockedBy({ situation, promised, budgets }: Round, { pods, place }: Server): string | undefined {
  const { settings, now } = situation;
  let first: string | undefined;
  for (const pod of pods) {
    const why = blocked(pod, { settings, now, budgets: budgets.of(pod) });
    if (why !== undefined && (first === undefined || why < first)) first = why;
  }
  return first ?? (promised.has(place) ? 'pods are to come here' : undefined);
}

const firstOf = (names: readonly string[]): string | undefined =>
  names.reduce<string | undefined>(
    (first, name) => (first === undefined || name < first ? name : first),
    undefined,
  );

/** Moves its pods elsewhere, for good if it leaves; or says why they cannot all go, and nothing is moved. */
function moveAway(round: Round, { machine, place, pods, pool }: Server, leaves: boolean): string | undefined {
  const { mover, world, budgets, departures, promised } = round;
  const tight = budgets.use(pods);
  if (tight)
    return `PodDisruptionBudget ${tight.namespace}/${tight.name} allows no more of its pods to be evicted`;
  const before = mark(world);
  const moved = leaves ? mover.empty(place, pods) : mover.tryEmpty(place, pods);
  const short = 'to' in moved && leaves && hasHeadroom(pool) ? shortOfHeadroom(world, pool) : undefined;
  if ('stuck' in moved || short) {
    budgets.giveBack(pods);
    rollback(world, before);
    return 'stuck' in moved ? `${moved.stuck} runs on it and fits nowhere else` : short?.why;
  }
  if (!leaves) {
    budgets.giveBack(pods);
    return undefined;
  }
  departures.take(machine);
  for (const target of moved.to) promised.add(target);
  return undefined;
}

const hasHeadroom = ({ headroom }: PoolSpec): boolean => Object.keys(headroom).length > 0;

function tooSoon({ situation }: Round, { machine, pool }: Server, idleSince: number): string | undefined {
  if (byHand(machine)) return undefined;
  const { settings, now } = situation;
  const wanted = pool.scaleDown.unneededForMs ?? settings.unneededForMs;
  const idleFor = now - idleSince;
  if (idleFor < wanted) return `not needed, but not for ${seconds(wanted)} yet`;
  const even = settings.weighBoot ? breakEvenMs(machine) : 0;
  return idleFor < even
    ? `not needed, but booting it again would cost more than ${seconds(even)} of idling`
    : undefined;
}

function whyLimited({ departures }: Round, { machine, pool, pods }: Server): string | undefined {
  return byHand(machine)
    ? undefined
    : departures.refusal(machine, pool, pods.length === 0 ? 'empty' : 'underutilized');
}

/** Idle time counts anew whenever a machine begins to serve. */
function idleAlready({ metrics, status }: Machine, now: number): number {
  return metrics.idleSince !== undefined && metrics.idleSince >= status.stateSince ? metrics.idleSince : now;
}
