import type { Group } from '../decide/demand.ts';
import { cheapestFor, lends, withFewerOffers } from '../remote/offer-heuristics.ts';
import {
  answerByRules,
  answers,
  mark,
  type Place,
  put,
  rollback,
  tried,
} from '../simulate/simulated-cluster.ts';
import { dropUnneeded, holds } from './drop-unneeded.ts';
import { type Chosen, chooseFor, putBack, retake } from './greedy.ts';
import { improve, withSpares } from './improve.ts';
import { enter, nextOf, type Shelf } from './machine-groups.ts';
import { byPriority, type Order, ordersOf } from './orders.ts';
import { everyone, pack, weigh } from './pack.ts';
import type { Packing } from './pack-all.ts';
import { isBetter, leavesNobody, place, servesMore, worthOf } from './plan-cost.ts';
import type { Draft, Study, Task } from './planning-context.ts';
import { measure } from './sizes.ts';
import { type Demand, demandOf } from './try-machine.ts';

/** Which machines to power on, and where everybody goes then. A value: nothing is changed by making one. */
export interface Plan {
  readonly chosen: readonly Chosen[];
  readonly packing: Packing;
  /** How many of each group had no room before anything was chosen. */
  readonly needy: Int32Array;
}

/** How many looks of a pod at a place a plan may be thought over for; a first draft is always made. */
export const usualEffort = 400_000;

/** What placing a pod costs, in such looks. */
const costOfPod = 100;

/** Choosing again for what did not find its place after all: once is nearly always enough. */
const mostRounds = 5;

/** Which machines to power on so that everybody has a place. Leaves the world as it was. */
export function plan(task: Task, effort = usualEffort): Plan {
  const study = studyOf(task, effort);
  const { chooser, groups } = study;
  const start = mark(chooser.world);
  const before = place(study, [], true);
  rollback(chooser.world, start);
  if (before.rest === 0) return { chosen: [], packing: before, needy: before.left };

  const seen = new Set<string>();
  let best: Draft | undefined;
  const consider = (attempt: Attempt): Draft | undefined => {
    const drafted = draftOf(study, attempt, seen);
    if (drafted && (!best || isBetter(drafted.value, best.value))) best = drafted;
    return drafted;
  };
  const all = attempts(study);
  for (const [index, attempt] of all.entries()) {
    if (index > 0 && study.looks.left <= 0) break;
    study.looks.left -= 1;
    consider(attempt);
  }
  const [first] = all;
  // Not everybody may be served: then it had better be the important ones.
  const important = new Set(groups.map(({ kind }) => kind.priority)).size > 1;
  if (first && important && best && !leavesNobody(best.value))
    consider({ ...first, order: byPriority(groups, first.order) });
  if (first && best && study.looks.left > 0)
    best = withFewerOffers(best, (without) => draftOf(study, { ...first, without }, seen));
  if (best) best = withSpares(study, best, (draft) => trimmed(study, draft, true));
  if (best && !leavesNobody(best.value)) best = withNobodyLeft(study, best);
  return { chosen: best?.chosen ?? [], packing: best?.packing ?? before, needy: before.left };
}

/** Gives the machines of a plan their places in the world, and the pods theirs. */
export function carryOutPlan(
  { chooser, groups }: Task,
  { chosen, packing }: Pick<Plan, 'chosen' | 'packing'>,
): Place[] {
  const { world } = chooser;
  const added = chosen.flatMap((one) => {
    retake(chooser, one);
    const entered = enter(world, one.box.shelf.make, one.machine);
    return one.addition ? [] : [entered];
  });
  for (const { group, place: where, pods } of packing.placements) {
    const kind = groups[group]?.kind;
    const there = world.places[where.index];
    if (kind && there) put(world, kind, there, pods);
  }
  return added;
}

function studyOf(task: Task, effort: number): Study {
  const { chooser, groups, running, coming } = task;
  const { shelves } = chooser;
  const sizes = measure(groups, [
    ...shelves.map(({ example }) => example.spec.resources),
    ...running.map(({ allocatable }) => allocatable),
  ]);
  const boxes = shelves.reduce((sum, shelf) => sum + shelf.boxes.length, 0);
  const pods = groups.reduce((sum, group) => sum + group.pods.length, 0);
  const cost = groups.length * (running.length + coming.length + boxes) + pods * costOfPod;
  const looks = Math.floor(effort / (cost || 1));
  return {
    ...task,
    orders: ordersOf(chooser.world, groups, sizes, choicesOf(task), looks > 0),
    share: sizes.share,
    looks: { left: looks },
  };
}

/** How many sorts of machines each group's rules allow, were they on and empty. Asked once per family and class. */
function choicesOf({ chooser, groups }: Task): Int32Array {
  const { world, shelves } = chooser;
  const byClass = new Map<string, { readonly shelf: Shelf; count: number }>();
  for (const shelf of shelves) {
    const { nodeClass, domains } = world.sites.ofMachine(shelf.example);
    const key = `${nodeClass.id} ${domains.filter((_, at) => at !== world.topology.hostnameKey)}`;
    const known = byClass.get(key);
    if (known) known.count += 1;
    else byClass.set(key, { shelf, count: 1 });
  }
  const byFamily = new Map<number, number>();
  for (const { shelf, count } of byClass.values()) {
    const next = nextOf(shelf);
    if (!next) continue;
    const before = mark(world);
    const { index } = enter(world, shelf.make, next);
    const asked = new Set<number>();
    for (const { kind } of groups) {
      if (asked.has(kind.family)) continue;
      asked.add(kind.family);
      if (answerByRules(world, kind, index) === answers.yes)
        byFamily.set(kind.family, (byFamily.get(kind.family) ?? 0) + count);
    }
    rollback(world, before);
  }
  return Int32Array.from(groups, ({ kind }) => byFamily.get(kind.family) ?? 0);
}

interface Attempt {
  readonly order: Order;
  readonly flat: boolean;
  /** Each offer first gets the pods that it is the cheapest for. */
  readonly thrifty?: boolean;
  readonly without?: ReadonlySet<Shelf>;
}

function attempts({ orders, groups, chooser }: Study): Attempt[] {
  const all: Attempt[] = orders.flatMap((order) => [
    { order, flat: false },
    { order, flat: true },
  ]);
  const [first] = orders;
  if (first && groups.length > 1 && chooser.shelves.filter(lends).length > 1)
    all.push({ order: first, flat: false, thrifty: true });
  return all;
}

/** One way to serve everybody; undefined where the same machines were drafted before. */
function draftOf(study: Study, attempt: Attempt, seen: Set<string>): Draft | undefined {
  const { chooser } = study;
  const first = firstChoice(study, attempt);
  const text = textOf(first);
  if (seen.has(text)) return undefined;
  seen.add(text);
  for (const one of first) retake(chooser, one);
  const whole = completed(study, first);
  const draft = trimmed(study, whole);
  for (const one of draft.chosen.toReversed()) putBack(chooser, one);
  return draft;
}

/** The same with fewer or better machines, where that serves as many. They are taken already. */
function trimmed(study: Study, draft: Draft, exact = false): Draft {
  const fewer = dropUnneeded(study, draft, completed);
  const better = improve(study, fewer, exact);
  return better === fewer ? fewer : dropUnneeded(study, better, completed);
}

/** Serves whoever is left over, and leaves out what became needless by that, as long as it serves no fewer. */
function withNobodyLeft(study: Study, draft: Draft): Draft {
  const { chooser, groups } = study;
  let current = withMore(study, draft);
  for (let round = 1; round <= mostRounds; round += 1) {
    for (const one of current.chosen) retake(chooser, one);
    const fewer = dropUnneeded(study, current, completed);
    for (const one of fewer.chosen.toReversed()) putBack(chooser, one);
    if (fewer === current) return current;
    const more = withMore(study, fewer);
    if (more === fewer) return fewer;
    // By some rules every machine that is there keeps pods from others: then it is all or nothing.
    if (servesMore(groups, current.packing, more.packing) || more.chosen.length > current.chosen.length)
      return current;
    current = more;
  }
  return current;
}

/**
 * Whoever is left over gets a place, or a machine beside those that are chosen, where there is one; all others stay
 * where they are.
 */
function withMore(study: Study, draft: Draft): Draft {
  const { chooser, groups, share, mayAsk, orders } = study;
  const { world } = chooser;
  const placements = [...draft.packing.placements];
  const left = draft.packing.left.slice();
  const more = tried(world, () => {
    const added = carryOutPlan(study, draft);
    const places = [...study.running, ...study.coming, ...added];
    placements.push(...pack(world, groups, orders[0] ?? [], places, left));
    const demand = demandOf(world, groups, orders[0] ?? [], left, share, mayAsk);
    const found = new Set<Place>();
    const further = chooseFor(chooser, demand, (placement) => {
      placements.push(placement);
      found.add(placement.place);
    });
    // Who may not ask for a machine may well use what another one leaves of it.
    placements.push(...pack(world, groups, orders[0] ?? [], [...found], left));
    return further;
  });
  const chosen = [...draft.chosen, ...more];
  const packing = { left, placements, rest: weigh(left, share) };
  const whole = { chosen, packing, value: worthOf(study, chosen, packing) };
  // A machine in a domain of its own may change where all others may go: then they are packed anew.
  const serves = placements.length > draft.packing.placements.length;
  const result = !serves ? draft : holds(study, whole) ? whole : completed(study, chosen);
  for (const one of result.chosen.toReversed()) putBack(chooser, one);
  return result;
}

/** What is lent may be of any size under the same name. */
const textOf = (chosen: readonly Chosen[]): string =>
  chosen
    .map(({ machine: { spec } }) => spec.name + (spec.offer ? JSON.stringify(spec.resources) : ''))
    .sort()
    .join();

/** Fills what is there, then chooses machine by machine. Leaves everything as it was. */
function firstChoice(study: Study, { order, flat, thrifty, without }: Attempt): Chosen[] {
  const { chooser, groups, mayAsk, running, coming, share } = study;
  const { world } = chooser;
  const start = mark(world);
  const left = everyone(groups);
  pack(world, groups, order, [...running, ...coming], left);
  const surroundings = { ...chooser.surroundings, flat };
  const shelves = without ? chooser.shelves.filter((shelf) => !without.has(shelf)) : chooser.shelves;
  const choose = (prefers?: Demand['prefers']): Chosen[] => {
    const demand = demandOf(world, groups, order, left, share, mayAsk);
    return chooseFor({ ...chooser, shelves, surroundings }, { ...demand, prefers });
  };
  const chosen = thrifty ? choose(cheapestFor(shelves)) : [];
  chosen.push(...choose());
  for (const one of chosen.toReversed()) putBack(chooser, one);
  rollback(world, start);
  return chosen;
}

/**
 * Packs everybody in an order that does not depend on the choice: the next look, while the machines boot, has to find
 * the same room. Whoever is not served by that gets a machine now; where no machine helps, whoever was left over comes
 * first, as far as others are not more important. The machines are taken already.
 */
function completed(study: Study, chosen: readonly Chosen[]): Draft {
  const { chooser, groups, mayAsk, share, orders } = study;
  const { world } = chooser;
  const [order = []] = orders;
  const all = [...chosen];
  let turn: Order | undefined;
  let best: Draft | undefined;
  for (let round = 1; ; round += 1) {
    study.looks.left -= 1;
    const { packing, more } = tried(world, () => {
      const packed = place(study, all, true, turn);
      if (packed.rest === 0 || round === mostRounds) return { packing: packed, more: [] };
      const demand = demandOf(world, groups, order, packed.left.slice(), share, mayAsk);
      return { packing: packed, more: chooseFor(chooser, demand) };
    });
    if (more.length > 0) {
      // Packed again with all of them: a machine in a zone of its own changes where others may go.
      all.push(...more);
      continue;
    }
    const isBest = !best || servesMore(groups, packing, best.packing);
    if (isBest) best = { chosen: [...all], packing, value: worthOf(study, all, packing) };
    if (best && (packing.rest === 0 || !isBest || round >= mostRounds)) {
      for (const one of all.slice(best.chosen.length).toReversed()) putBack(chooser, one);
      return best;
    }
    turn = leftFirst(groups, turn ?? order, packing.left);
  }
}

const leftFirst = (groups: readonly Group[], order: Order, left: Int32Array): Order =>
  byPriority(
    groups,
    order.toSorted((a, b) => Math.sign(left[b] ?? 0) - Math.sign(left[a] ?? 0)),
  );
