import type { Candidate, DemandGroup, Intent, OfferVerdict, Unmet } from '../decide/decision.ts';
import { type Group, groupWaiting, inTurn, windowOf, windowsOf } from '../decide/demand.ts';
import { refusals, whyUnmet } from '../decide/explain-unmet.ts';
import type { Situation } from '../decide/indexed-snapshot.ts';
import { alertWants } from '../decide/signals/alert-signals.ts';
import type { Relief, Want } from '../decide/signals/demand-signals.ts';
import { refusedWants, triggerWants, useOf } from '../decide/signals/demand-signals.ts';
import { podName } from '../decide/snapshot.ts';
import { createRoom } from '../limits/room.ts';
import type { Minimum } from '../limits/windows.ts';
import { capacityOf, stepOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { because, type Reason } from '../reasons/reason.ts';
import { offerVerdicts, quotesOf } from '../remote/quotes.ts';
import { lentShelves } from '../remote/remote-slices.ts';
import { maySliceStay, offersById } from '../remote/slice-rules.ts';
import { reopen } from '../scale-down/undo-drain.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, closePlace, type Place, tried, type World } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import { eligibleMachines } from './candidates.ts';
import type { Chooser } from './chooser.ts';
import { chooseWanted, type Wanted, type WantedMachine } from './extra-capacity.ts';
import { type Chosen, putBack, retake } from './greedy.ts';
import { intentOf, priceOf } from './intent.ts';
import { stock } from './machine-groups.ts';
import { madeShelves } from './on-demand.ts';
import { carryOutPlan, type Plan, plan } from './plan.ts';
import type { Task } from './planning-context.ts';
import { createNeighbourhood, usualWatts } from './spread-counts.ts';

/** Where waiting pods were counted on to go. */
export interface Assignment {
  readonly pods: readonly string[];
  readonly on: string;
}

export interface ScaleUp {
  readonly demand: readonly DemandGroup[];
  readonly wants: readonly Reason[];
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  /** Undefined where no pool takes any. */
  readonly offers: readonly OfferVerdict[] | undefined;
  readonly limits: readonly Reason[];
  readonly unmet: readonly Unmet[];
  /** Places that pods are counted on to come to. */
  readonly promised: readonly string[];
  /** Worked out when asked for: nobody needs it to decide. */
  readonly assignments: () => Assignment[];
  readonly chosen: readonly Chosen[];
  /** With what is left to choose from. */
  readonly chooser: Chooser;
}

/** Waiting pods and other wants → the machines to power on. Leaves the world with all of it in place. */
export function scaleUp(
  situation: Situation,
  world: World,
  minimums: ReadonlyMap<string, Minimum>,
  relief: Relief,
  effort: number,
): ScaleUp {
  const groups = groupWaiting(situation, world);
  const eligible = eligibleMachines(situation);
  const policiesOf = (pool: PoolSpec | undefined) => pool?.policies ?? situation.settings.policies;
  const { neighbours, count } = createNeighbourhood(situation.machines);
  const names = new Set([...situation.machines.map(({ spec }) => spec.name), ...situation.nodes.keys()]);
  const own = situation.pools.filter(({ managedBy }) => managedBy === 'bamel');
  const lent = lentShelves(situation, own, names, world);
  const chooser: Chooser = {
    world,
    shelves: [
      ...stock(world, eligible.machines, situation.poolOf, policiesOf),
      ...madeShelves(own, names, situation.now),
      ...lent.shelves,
    ],
    room: createRoom(situation),
    policiesOf,
    surroundings: {
      neighbours,
      usualWatts: usualWatts(eligible.machines),
      offers: offersById(situation),
    },
    count,
  };
  const windows = windowsOf(situation);
  const byName = (a: Place, b: Place): number => byText(a.name, b.name);
  const open = world.places.filter(({ index }) => world.closed[index] === 0).sort(byName);
  const task: Task = {
    chooser,
    groups,
    mayAsk: ({ age }, { pool }) => windows.indexOf(windowOf(pool, situation.settings)) < age,
    running: open.filter((place) => !isComing(place)),
    coming: open.filter(isComing),
  };
  const quotes = quotesOf(task);
  const all = chooseAll(task, situation, minimums, relief, effort);
  carryOutAll(task, situation, all);
  const { plan: chosenPlan, cancelled } = all.drains;
  const { packing, needy } = chosenPlan;
  const wanted = { ...all.wanted, chosen: [...all.ahead, ...all.wanted.chosen] };
  const chosen = [...chosenPlan.chosen, ...wanted.chosen.map(({ chosen: one }) => one)];

  const waiting = groups.reduce((sum, { pods }) => sum + pods.length, 0);
  const whyWanted = new Map(wanted.chosen.map(({ chosen: one, why }) => [one, why]));
  const podsAt = new Map<string, number>();
  for (const { place, pods } of packing.placements)
    podsAt.set(place.name, (podsAt.get(place.name) ?? 0) + pods);
  const why = (one: Chosen): Reason =>
    whyWanted.get(one) ?? {
      code: 'holds-pods',
      pods: podsAt.get(one.machine.spec.name) ?? 0,
      waiting,
    };
  const intents: Intent[] = [
    ...cancelled.map(({ spec }) => ({
      kind: 'cancel-drain' as const,
      machine: spec.name,
      ...because({ code: 'drain-cancelled', pods: podsAt.get(spec.name) ?? 0 }),
    })),
    ...chosen.map((one) => intentOf(one, why(one))),
  ];
  const poweredOn = new Set([
    ...chosen.map(({ machine }) => machine.spec.name),
    ...cancelled.map(({ spec, status }) => status.kubernetesNode ?? spec.name),
  ]);
  const servedNow = new Int32Array(groups.length);
  for (const { group, place, pods } of packing.placements)
    if (poweredOn.has(place.name)) servedNow[group] = (servedNow[group] ?? 0) + pods;
  const needyGroups = groups.filter((_, index) => (needy[index] ?? 0) > 0);
  const unserved = packing.rest > 0 || wanted.unmet.length > 0;
  const { rejected, limits } = refusals(chooser, eligible, needyGroups, unserved);
  const takesOffers = own.some(({ template }) => template.provider?.offers);
  const offers = takesOffers ? offerVerdicts(chooser, quotes, chosen, lent.refused) : undefined;
  const unmet = whyUnmet(situation, world, chooser, groups, packing.left, rejected, offers ?? []);
  return {
    demand: groups.map((group, index) =>
      describeGroup(group, servedNow[index] ?? 0, packing.left[index] ?? 0),
    ),
    wants: wanted.wants,
    intents,
    candidates: [
      ...intents.map(({ kind, machine, why: told, reason }, index): Candidate => {
        const one = chosen[index - cancelled.length];
        return {
          machine,
          verdict: kind,
          why: told,
          reason,
          ...(one && { watts: one.machine.spec.watts?.max, price: priceOf(one), score: one.score }),
        };
      }),
      ...[...rejected].map(
        ([machine, reason]): Candidate => ({ machine, verdict: 'rejected', ...because(reason) }),
      ),
    ],
    offers,
    limits: [...limits, ...wanted.unmet],
    unmet,
    promised: [...new Set(packing.placements.map(({ place }) => place.name))],
    assignments: () => assign(groups, chosenPlan),
    chosen,
    chooser,
  };
}

/** All that is to be powered on or kept, and for what. A value: nothing is changed by making one. */
interface All {
  /** Wanted for other reasons than pods, and chosen before the pods were given their places. */
  readonly ahead: readonly WantedMachine[];
  readonly drains: PlanWithDrains;
  /** Wanted for other reasons than pods, and not had yet. */
  readonly wanted: Wanted;
}

interface PlanWithDrains {
  readonly plan: Plan;
  /** Machines whose drain is called off. */
  readonly cancelled: readonly Machine[];
  /** Machines that were looked at as if their drain were called off. */
  readonly reopened: readonly Machine[];
}

/**
 * For the pods first, then for whatever else wants machines; or the other way round, where that takes fewer: a machine
 * that a minimum wants in any case can hold pods too. Leaves everything as it was.
 */
function chooseAll(
  task: Task,
  situation: Situation,
  minimums: ReadonlyMap<string, Minimum>,
  relief: Relief,
  effort: number,
): All {
  const { chooser } = task;
  const known = [...triggerWants(situation), ...alertWants(situation), ...relief.wants];
  const choose = (ahead: readonly WantedMachine[]): All => {
    const coming = [...task.coming, ...ahead.map(({ place }) => place)];
    const given = { ...task, coming };
    const drains = planWithDrains(given, situation, effort);
    return tried(chooser.world, () => {
      carryOutDrains(given, situation, drains);
      const chosen = [...ahead.map((one) => one.chosen), ...drains.plan.chosen];
      const underway = { chosen, cancelled: drains.cancelled };
      const wants = [...known, ...refusedSoFar(task, situation, drains.plan)];
      const wanted = chooseWanted(chooser, situation, underway, minimums, wants, true);
      for (const one of [...drains.plan.chosen, ...wanted.chosen.map((each) => each.chosen)].toReversed())
        putBack(chooser, one);
      return { ahead, drains, wanted };
    });
  };
  const podsFirst = choose([]);
  if (podsFirst.drains.plan.chosen.length === 0 || podsFirst.wanted.chosen.length === 0) return podsFirst;
  const wantsFirst = tried(chooser.world, () => {
    const { chosen } = chooseWanted(
      chooser,
      situation,
      { chosen: [], cancelled: [] },
      minimums,
      known,
      false,
    );
    const all = choose(chosen);
    for (const one of chosen.toReversed()) putBack(chooser, one.chosen);
    return all;
  });
  const saves =
    wantsFirst.drains.plan.packing.rest <= podsFirst.drains.plan.packing.rest + 1e-9 &&
    chosenOf(wantsFirst).length < chosenOf(podsFirst).length;
  return saves ? wantsFirst : podsFirst;
}

const chosenOf = ({ ahead, drains, wanted }: All): readonly Chosen[] => [
  ...ahead.map((one) => one.chosen),
  ...wanted.chosen.map((one) => one.chosen),
  ...drains.plan.chosen,
];

/** Gives everything that was chosen its place in the world. */
function carryOutAll(task: Task, situation: Situation, { ahead, drains, wanted }: All): void {
  const enter = ({ chosen }: WantedMachine): Place => {
    retake(task.chooser, chosen);
    return addMachine(task.chooser.world, chosen.machine);
  };
  const coming = [...task.coming, ...ahead.map(enter)];
  carryOutDrains({ ...task, coming }, situation, drains);
  for (const one of wanted.chosen) enter(one);
}

function carryOutDrains(
  task: Task,
  situation: Situation,
  { plan: made, cancelled, reopened }: PlanWithDrains,
): void {
  const { world } = task.chooser;
  const places = reopened.flatMap((machine) => reopen(world, situation, machine) ?? []);
  carryOutPlan(task, made);
  for (const place of places)
    if (!cancelled.some((machine) => machine === place.machine)) closePlace(world, place);
}

/** Wants of pods that the scheduler keeps refusing although they are counted on to go to nodes that run. */
function refusedSoFar({ groups }: Task, situation: Situation, { packing }: Plan): Want[] {
  const refused = packing.placements.flatMap(({ group, place, pods }) =>
    place.node && !isComing(place)
      ? [{ createdAt: groups[group]?.first.createdAt ?? situation.now, pods, on: place.machine }]
      : [],
  );
  const membersOf = ({ name }: PoolSpec) =>
    (situation.members.get(name) ?? []).filter((machine) => capacityOf(machine) === 'serving');
  return refusedWants(situation, refused, (pool) => useOf(situation, membersOf(pool)));
}

const isComing = ({ machine }: Place): boolean => machine !== undefined && capacityOf(machine) === 'coming';

/**
 * A drain is called off where that saves powering something on. It is tried only when something would be powered on
 * or somebody is not served at all. Leaves everything as it was.
 */
function planWithDrains(task: Task, situation: Situation, effort: number): PlanWithDrains {
  const { chooser, running } = task;
  const { world } = chooser;
  const without = plan(task, effort);
  const asIs = { plan: without, cancelled: [], reopened: [] };
  if (without.chosen.length === 0 && without.packing.rest === 0) return asIs;
  const mayStay = maySliceStay(situation);
  const draining = situation.machines.filter(
    (machine) =>
      stepOf(machine) === 'drain-node' &&
      mayStay(machine) &&
      situation.poolOf.get(machine.spec.pool)?.managedBy !== 'clusterAutoscaler',
  );
  if (draining.length === 0) return asIs;
  return tried(world, () => {
    const reopened = draining.flatMap((machine) => reopen(world, situation, machine) ?? []);
    const kept = plan({ ...task, running: [...running, ...reopened] }, effort);
    const saves =
      kept.packing.rest < without.packing.rest - 1e-9 ||
      (kept.packing.rest <= without.packing.rest + 1e-9 && kept.chosen.length < without.chosen.length);
    if (!saves) return asIs;
    const used = new Set(kept.packing.placements.map(({ place }) => place.index));
    return {
      plan: { ...kept, needy: without.needy },
      cancelled: reopened.filter(({ index }) => used.has(index)).flatMap(({ machine }) => machine ?? []),
      reopened: draining,
    };
  });
}

function describeGroup({ kind, pods, first }: Group, served: number, left: number): DemandGroup {
  return {
    pods: pods.length,
    requests: kind.requests,
    example: podName(first),
    room: pods.length - served - left,
    served,
    ...(kind.unmodelled.length > 0 && { unmodelled: kind.unmodelled }),
  };
}

/** The pods of a group are alike: who waited longest is served first. */
function assign(groups: readonly Group[], { packing }: Plan): Assignment[] {
  const next = new Int32Array(groups.length);
  const inOrder = groups.map(({ pods }) => pods.toSorted(inTurn));
  return packing.placements.map(({ group, place, pods }) => {
    const from = next[group] ?? 0;
    next[group] = from + pods;
    return { pods: (inOrder[group]?.slice(from, from + pods) ?? []).map(podName), on: place.name };
  });
}
