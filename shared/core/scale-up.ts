import { alertWants } from './alert-wants.ts';
import { eligibleMachines } from './candidates.ts';
import { type Chooser, type Chosen, putBack } from './choose/greedy.ts';
import { intentOf, priceOf } from './choose/intent.ts';
import { lentShelves } from './choose/lent-shelves.ts';
import { madeShelves } from './choose/made.ts';
import { createNeighbourhood, usualWatts } from './choose/neighbourhood.ts';
import { type Plan, plan } from './choose/plan.ts';
import { offerVerdicts, quotesOf } from './choose/quotes.ts';
import { stock } from './choose/shelves.ts';
import type { Task } from './choose/study.ts';
import { chooseWanted, type Wanted, type WantedMachine } from './choose/wanted.ts';
import type { Candidate, DemandGroup, Intent, OfferVerdict, Unmet } from './decision.ts';
import { type Group, groupWaiting, inTurn, windowOf, windowsOf } from './demand.ts';
import { refusals, whyUnmet } from './explain-unmet.ts';
import { maySliceStay, offersById } from './lent.ts';
import { capacityOf, stepOf } from './lifecycle.ts';
import { createRoom } from './limits/room.ts';
import { reopen } from './reopen.ts';
import type { PoolSpec } from './settings.ts';
import type { Situation } from './situation.ts';
import { podName } from './snapshot.ts';
import { byText, plural } from './text.ts';
import type { Relief, Want } from './wants.ts';
import { refusedWants, triggerWants, useOf } from './wants.ts';
import type { Minimum } from './windows.ts';
import { closePlace, mark, type Place, rollback, type World } from './world/world.ts';

/** Where waiting pods were counted on to go. */
export interface Assignment {
  readonly pods: readonly string[];
  readonly on: string;
}

export interface ScaleUp {
  readonly demand: readonly DemandGroup[];
  readonly wants: readonly string[];
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  /** Undefined where no pool takes any. */
  readonly offers: readonly OfferVerdict[] | undefined;
  readonly limits: readonly string[];
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
  const { plan: chosenPlan, cancelled, wanted } = chooseAll(task, situation, minimums, relief);
  const { packing, needy } = chosenPlan;
  const chosen = [...chosenPlan.chosen, ...wanted.chosen.map(({ chosen: one }) => one)];

  const waiting = groups.reduce((sum, { pods }) => sum + pods.length, 0);
  const whyWanted = new Map(wanted.chosen.map(({ chosen: one, why }) => [one, why]));
  const podsAt = new Map<string, number>();
  for (const { place, pods } of packing.placements)
    podsAt.set(place.name, (podsAt.get(place.name) ?? 0) + pods);
  const why = (one: Chosen): string =>
    whyWanted.get(one) ??
    `holds ${podsAt.get(one.machine.spec.name) ?? 0} of ${waiting} waiting ${plural(waiting, 'pod')}`;
  const intents: Intent[] = [
    ...cancelled.map(({ spec }) => ({
      kind: 'cancel-drain' as const,
      machine: spec.name,
      why: `${podsAt.get(spec.name) ?? 0} waiting ${plural(podsAt.get(spec.name) ?? 0, 'pod')} can use it`,
    })),
    ...chosen.map((one) => intentOf(one, why(one))),
  ];
  const needyGroups = groups.filter((_, index) => (needy[index] ?? 0) > 0);
  const unserved = packing.rest > 0 || wanted.unmet.length > 0;
  const { rejected, limits } = refusals(chooser, eligible, needyGroups, unserved);
  const takesOffers = own.some(({ template }) => template.provider?.offers);
  const offers = takesOffers ? offerVerdicts(chooser, quotes, chosen, lent.refused) : undefined;
  const unmet = whyUnmet(situation, world, chooser, groups, packing.left, rejected, offers ?? []);
  return {
    demand: groups.map((group, index) => describeGroup(group, needy[index] ?? 0, packing.left[index] ?? 0)),
    wants: wanted.wants,
    intents,
    candidates: [
      ...intents.map(({ kind, machine }, index): Candidate => {
        const one = chosen[index - cancelled.length];
        return {
          machine,
          verdict: kind,
          why: intents[index]?.why ?? '',
          ...(one && { watts: one.machine.spec.watts?.max, price: priceOf(one), score: one.score }),
        };
      }),
      ...[...rejected].map(([machine, reason]): Candidate => ({ machine, verdict: 'rejected', why: reason })),
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

interface All {
  readonly plan: Plan;
  readonly cancelled: Situation['machines'];
  readonly wanted: Wanted;
}

/**
 * For the pods first, then for whatever else wants machines; or the other way round, where that takes fewer: a machine
 * that a minimum wants in any case can hold pods too.
 */
function chooseAll(
  task: Task,
  situation: Situation,
  minimums: ReadonlyMap<string, Minimum>,
  relief: Relief,
): All {
  const { chooser } = task;
  const start = mark(chooser.world);
  const known = [...triggerWants(situation), ...alertWants(situation), ...relief.wants];
  const choose = (ahead: readonly WantedMachine[]): All => {
    const earlier = ahead.map((one) => one.chosen);
    const coming = [...task.coming, ...ahead.map(({ place }) => place)];
    const planned = planWithDrains({ ...task, coming }, situation);
    const { plan: made, cancelled } = planned;
    const underway = { chosen: [...earlier, ...made.chosen], cancelled };
    const refused = refusedSoFar(task, situation, made);
    const after = chooseWanted(chooser, situation, underway, minimums, [...known, ...refused], true);
    return { ...planned, wanted: { ...after, chosen: [...ahead, ...after.chosen] } };
  };
  const chosenOf = ({ plan: made, wanted }: All): readonly Chosen[] => [
    ...wanted.chosen.map((one) => one.chosen),
    ...made.chosen,
  ];
  const undo = (all: All): void => {
    for (const one of chosenOf(all).toReversed()) putBack(chooser, one);
    rollback(chooser.world, start);
  };
  const podsFirst = choose([]);
  if (podsFirst.plan.chosen.length === 0 || podsFirst.wanted.chosen.length === 0) return podsFirst;
  undo(podsFirst);
  const ahead = chooseWanted(chooser, situation, { chosen: [], cancelled: [] }, minimums, known, false);
  const wantsFirst = choose(ahead.chosen);
  const saves =
    wantsFirst.plan.packing.rest <= podsFirst.plan.packing.rest + 1e-9 &&
    chosenOf(wantsFirst).length < chosenOf(podsFirst).length;
  if (saves) return wantsFirst;
  undo(wantsFirst);
  return choose([]);
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
 * or somebody is not served at all.
 */
function planWithDrains(task: Task, situation: Situation): { plan: Plan; cancelled: Situation['machines'] } {
  const { chooser, running } = task;
  const { world } = chooser;
  const start = mark(world);
  const without = plan(task);
  if (without.chosen.length === 0 && without.packing.rest === 0) return { plan: without, cancelled: [] };
  const undo = (made: Plan): void => {
    for (const one of made.chosen.toReversed()) putBack(chooser, one);
    rollback(world, start);
  };
  const mayStay = maySliceStay(situation);
  const draining = situation.machines.filter(
    (machine) =>
      stepOf(machine) === 'drain-node' &&
      mayStay(machine) &&
      situation.poolOf.get(machine.spec.pool)?.managedBy !== 'clusterAutoscaler',
  );
  if (draining.length === 0) return { plan: without, cancelled: [] };
  undo(without);
  const reopened = draining.flatMap((machine) => reopen(world, situation, machine) ?? []);
  const with_ = plan({ ...task, running: [...running, ...reopened] });
  const saves =
    with_.packing.rest < without.packing.rest - 1e-9 ||
    (with_.packing.rest <= without.packing.rest + 1e-9 && with_.chosen.length < without.chosen.length);
  if (saves) {
    const used = new Set(with_.packing.placements.map(({ place }) => place));
    for (const place of reopened) if (!used.has(place)) closePlace(world, place);
    return {
      plan: { ...with_, needy: without.needy },
      cancelled: reopened.filter((place) => used.has(place)).flatMap(({ machine }) => machine ?? []),
    };
  }
  undo(with_);
  return { plan: plan(task), cancelled: [] };
}

function describeGroup({ kind, pods, first }: Group, needy: number, left: number): DemandGroup {
  return {
    pods: pods.length,
    requests: kind.requests,
    example: podName(first),
    room: pods.length - needy,
    served: Math.max(0, needy - left),
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
