import { protection } from '../cluster/protect.ts';
import { blocked, keepsNobody } from '../decide/blockers.ts';
import type { Candidate, Decision, Intent } from '../decide/decision.ts';
import { nodeOfMachine, podsOf, type Situation } from '../decide/indexed-snapshot.ts';
import { alertGates } from '../decide/signals/alert-signals.ts';
import { type Relief, triggerGates, useOf } from '../decide/signals/demand-signals.ts';
import { podName } from '../decide/snapshot.ts';
import { breakEvenMs } from '../energy/boot-energy.ts';
import { createDepartures } from '../limits/departures.ts';
import { createBudgets } from '../limits/disruption-budgets.ts';
import type { Minimum } from '../limits/windows.ts';
import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { transition } from '../machine/transition.ts';
import { because, type Reason } from '../reasons/reason.ts';
import { createWithdrawer, slicesToGoBack } from '../remote/return-slices.ts';
import { leftToOthers } from '../scale-up/candidates.ts';
import { shortOfHeadroom } from '../scale-up/headroom.ts';
import type { ScaleUp } from '../scale-up/scale-up.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, mark, rollback, type World } from '../simulate/simulated-cluster.ts';
import { inTurn, targetsOf } from './drain-order.ts';
import { mostThatCanLeave } from './recreate.ts';
import { createMover } from './relocate-pods.ts';
import { createReplacer } from './replace.ts';
import type { Round, Server } from './round.ts';

export interface ScaleDown {
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  readonly limits: readonly Reason[];
  readonly idle: Decision['idle'];
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
  const limits = new Set<Reason>();
  const idle: { machine: string; idleSince: number | undefined }[] = [];
  const kept = (machine: Machine, why: Reason): void => {
    candidates.push({ machine: machine.spec.name, verdict: 'kept', ...because(why) });
  };
  const remember = ({ spec, metrics }: Machine, idleSince: number | undefined): void => {
    if (idleSince !== metrics.idleSince) idle.push({ machine: spec.name, idleSince });
  };

  const servers: Server[] = [];
  for (const machine of situation.machines) {
    if (capacityOf(machine) !== 'serving') continue;
    const server = toServer(situation, world, machine);
    if ('place' in server) servers.push(server);
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
  const leaving: { readonly server: Server; readonly why?: Reason }[] = [];
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
    leaving.push({
      server,
      why: byHand(machine)
        ? { code: 'set-off', pods: pods.length }
        : { code: 'idle', forMs: situation.now - idleSince, pods: pods.length },
    });
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
      kept(server.machine, { code: 'strands-pods' });
      continue;
    }
    intents.push({ kind: 'drain', machine: spec.name, ...because(why) });
    candidates.push({
      machine: spec.name,
      verdict: 'drain',
      ...because(why),
      watts: spec.watts?.idle,
    });
  }
  return { intents, candidates, limits: [...limits], idle };
}

/** A person wants it off: how little it is used and for how long does not matter. */
const byHand = ({ spec }: Machine): boolean => spec.powerState === 'off';

function toServer(situation: Situation, world: World, machine: Machine): Server | Reason {
  const { settings, poolOf, now, ownNode } = situation;
  const pool = poolOf.get(machine.spec.pool);
  if (!pool) return { code: 'pool-undefined', pool: machine.spec.pool };
  if (pool.managedBy !== 'bamel') return leftToOthers(pool.name);
  const node = nodeOfMachine(situation, machine);
  const place = node && world.byNode.get(node.name);
  if (!node || !place) return { code: 'node-missing' };
  if (!node.ready) return { code: 'node-unknown' };
  const shielded = protection(machine, node, settings.protect, ownNode);
  if (shielded) return shielded;
  const asked = transition(machine, { type: 'drain-requested', operation: '' }, now, settings.timings);
  if (!asked.ok) return asked.reason;
  const pods = podsOf(situation, node.name).filter((pod) => !keepsNobody(pod, settings));
  return { machine, pool, node, place, pods, use: useOf(situation, [machine]) };
}

/** Why the machine is needed as it is, whatever room there is elsewhere. */
function whyNeeded(round: Round, server: Server): Reason | undefined {
  const { settings } = round.situation;
  const { machine, pool, pods, use } = server;
  const first = blockedBy(round, server);
  if (first) return first;
  if (byHand(machine)) return undefined;
  const threshold = pool.scaleDown.threshold ?? settings.scaleDownThreshold;
  if (pods.length > 0 && use > threshold)
    return { code: 'in-use', use, pod: pods.map(podName).reduce(least) };
  if (settings.requireProvenCycle && machine.status.provenAt === undefined && !machine.spec.made)
    return { code: 'unproven', machine: machine.spec.name };
  return round.relief.kept.get(machine.spec.name);
}

/** Why nothing may be moved away from it. */
function blockedBy({ situation, promised, budgets }: Round, { pods, place }: Server): Reason | undefined {
  const { settings, now } = situation;
  // The first by name, whatever order the pods are listed in.
  let first: { readonly name: string; readonly why: Reason } | undefined;
  for (const pod of pods) {
    const why = blocked(pod, { settings, now, budgets: budgets.of(pod) });
    if (!why) continue;
    const name = podName(pod);
    if (first === undefined || name < first.name) first = { name, why };
  }
  return first?.why ?? (promised.has(place) ? { code: 'pods-expected' } : undefined);
}

const least = (a: string, b: string): string => (b < a ? b : a);

/** Moves its pods elsewhere, for good if it leaves; or says why they cannot all go, and nothing is moved. */
function moveAway(round: Round, { machine, place, pods, pool }: Server, leaves: boolean): Reason | undefined {
  const { mover, world, budgets, departures, promised } = round;
  const tight = budgets.use(pods);
  if (tight) return { code: 'pod-disruption-budget', budget: `${tight.namespace}/${tight.name}` };
  const before = mark(world);
  const moved = leaves ? mover.empty(place, pods) : mover.tryEmpty(place, pods);
  const short = 'to' in moved && leaves && hasHeadroom(pool) ? shortOfHeadroom(world, pool) : undefined;
  if ('stuck' in moved || short) {
    budgets.giveBack(pods);
    rollback(world, before);
    return 'stuck' in moved ? { code: 'pod-fits-nowhere', pod: moved.stuck } : short?.why;
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

function tooSoon({ situation }: Round, { machine, pool }: Server, idleSince: number): Reason | undefined {
  if (byHand(machine)) return undefined;
  const { settings, now } = situation;
  const wanted = pool.scaleDown.unneededForMs ?? settings.unneededForMs;
  const idleFor = now - idleSince;
  if (idleFor < wanted) return { code: 'idle-too-short', forMs: wanted };
  const even = settings.weighBoot ? breakEvenMs(machine) : 0;
  return idleFor < even ? { code: 'boot-costs-more', forMs: even } : undefined;
}

function whyLimited({ departures }: Round, { machine, pool, pods }: Server): Reason | undefined {
  return byHand(machine)
    ? undefined
    : departures.refusal(machine, pool, pods.length === 0 ? 'empty' : 'underutilized');
}

/** Idle time counts anew whenever a machine begins to serve. */
function idleAlready({ metrics, status }: Machine, now: number): number {
  return metrics.idleSince !== undefined && metrics.idleSince >= status.stateSince ? metrics.idleSince : now;
}
