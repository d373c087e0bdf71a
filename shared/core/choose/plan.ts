import { fits, mark, rollback } from '../world/world.ts';
import { type Chosen, chooseFor, putBack, retake, takeHead } from './greedy.ts';
import { improve } from './improve.ts';
import { byPriority, type Order, ordersOf } from './orders.ts';
import { everyone, pack } from './pack.ts';
import type { Packing } from './settle.ts';
import { enter, head, type Shelf } from './shelves.ts';
import { measure } from './sizes.ts';
import type { Study, Task } from './study.ts';
import { cheapestFor, type Draft, lends, withFewerOffers } from './thrift.ts';
import { isBetter, leavesNobody, place, worth } from './value.ts';

export interface Plan {
  readonly chosen: readonly Chosen[];
  readonly packing: Packing;
  /** How many of each group had no room before anything was chosen. */
  readonly needy: Int32Array;
}

/** Up to so many looks of a pod at a place everything is tried; beyond, one way has to do. */
const thorough = 4_000;

/** Choosing again for what did not find its place after all: once is nearly always enough. */
const mostRounds = 3;

/** So many machines are added at once when nothing less would do; what is too much is left out again. */
const mostMore = 8;

/** Which machines to power on so that everybody has a place. Leaves the world with all of them in it. */
export function plan(task: Task): Plan {
  const { chooser, groups, running, coming } = task;
  const { world, shelves } = chooser;
  const sizes = measure(groups, [
    ...shelves.map(({ example }) => example.spec.resources),
    ...running.map(({ allocatable }) => allocatable),
  ]);
  const small = groups.length * (running.length + coming.length + boxesOf(task)) <= thorough;
  const study: Study = {
    ...task,
    orders: ordersOf(groups, sizes, choicesOf(task), small),
    share: sizes.share,
    small,
  };
  const start = mark(world);

  const before = place(study, [], true);
  if (before.rest === 0) return { chosen: [], packing: before, needy: before.left };
  rollback(world, start);

  const tries = attempts(study, small);
  const judged = tries.length > 1 || shelves.some(lends);
  const seen = new Set<string>();
  const drafted = (attempt: Attempt): Draft | undefined => {
    const draft = firstDraft(study, attempt);
    const isNew = !seen.has(textOf(draft)) && seen.add(textOf(draft));
    const chosen = small && isNew ? improve(study, draft) : draft;
    const value = judged && isNew ? worth(study, chosen) : [];
    for (const one of chosen.toReversed()) putBack(chooser, one);
    return isNew ? { chosen, value } : undefined;
  };
  let best: Draft | undefined;
  for (const attempt of tries) {
    const draft = drafted(attempt);
    if (draft && (!best || isBetter(draft.value, best.value))) best = draft;
  }
  const [first] = tries;
  if (best && first && small) best = withFewerOffers(best, (without) => drafted({ ...first, without }));
  const chosen = (best?.chosen ?? []).map((one) => retake(chooser, one));
  const whole = small ? lastResort(study, chosen) : chosen;
  return { ...completed(study, whole), needy: before.left };
}

/** What is lent may be of any size under the same name. */
const textOf = (chosen: readonly Chosen[]): string =>
  chosen
    .map(({ machine: { spec } }) => spec.name + (spec.offer ? JSON.stringify(spec.resources) : ''))
    .sort()
    .join();

const boxesOf = ({ chooser }: Task): number =>
  chooser.shelves.reduce((sum, { boxes }) => sum + boxes.length, 0);

/** How many sorts of machines would do for each group, were they on and empty. */
function choicesOf({ chooser, groups }: Task): Int32Array {
  const { world, shelves } = chooser;
  const counts = new Int32Array(groups.length);
  for (const { example, make } of shelves) {
    const before = mark(world);
    const place = enter(world, make, example);
    for (const [index, { kind }] of groups.entries())
      if (fits(world, kind, place)) counts[index] = (counts[index] ?? 0) + 1;
    rollback(world, before);
  }
  return counts;
}

interface Attempt {
  readonly order: Order;
  readonly flat: boolean;
  /** Each offer first gets the pods that it is the cheapest for. */
  readonly thrifty?: boolean;
  readonly without?: ReadonlySet<Shelf>;
}

function attempts({ orders, groups, chooser }: Study, small: boolean): Attempt[] {
  const all: Attempt[] = orders.flatMap((order) => [
    { order, flat: false },
    ...(small ? [{ order, flat: true }] : []),
  ]);
  const [first] = orders;
  const important = new Set(groups.map(({ kind }) => kind.priority)).size > 1;
  if (first && small && groups.length > 1 && chooser.shelves.filter(lends).length > 1)
    all.push({ order: first, flat: false, thrifty: true });
  // Not everybody may be served: then it had better be the important ones.
  return important && first ? [{ order: byPriority(groups, first), flat: false }, ...all] : all;
}

/** Fills what is there, then chooses machine by machine. Leaves the world as it was. */
function firstDraft(study: Study, { order, flat, thrifty, without }: Attempt): Chosen[] {
  const { chooser, groups, mayAsk, running, coming, share } = study;
  const start = mark(chooser.world);
  const left = everyone(groups);
  pack(chooser.world, groups, order, [...running, ...coming], left);
  const surroundings = { ...chooser.surroundings, flat };
  const shelves = without ? chooser.shelves.filter((shelf) => !without.has(shelf)) : chooser.shelves;
  const cheapest = cheapestFor(shelves);
  const choose = (may: Study['mayAsk']): Chosen[] =>
    chooseFor({ ...chooser, shelves, surroundings }, { groups, order, left, share, mayAsk: may });
  const chosen = thrifty ? choose((group, shelf) => mayAsk(group, shelf) && cheapest(group, shelf)) : [];
  chosen.push(...choose(mayAsk));
  rollback(chooser.world, start);
  return chosen;
}

/** Somebody is left over, and machines too: with all of them, and every way tried, perhaps nobody is. */
function lastResort(study: Study, chosen: readonly Chosen[]): readonly Chosen[] {
  const { chooser, groups, mayAsk } = study;
  const value = worth(study, chosen, true);
  if (leavesNobody(value)) return chosen;
  const more: Chosen[] = [];
  for (const shelf of chooser.shelves)
    for (const box of shelf.boxes) {
      if (shelf.make || !groups.every((group) => mayAsk(group, shelf))) continue;
      for (
        let next = head(box);
        next && !chooser.room.refusal(next.spec) && more.length < mostMore;
        next = head(box)
      )
        more.push(takeHead(chooser, box));
    }
  const all = [...chosen, ...more];
  if (more.length > 0 && isBetter(worth(study, all, true), value)) return improve(study, all, true);
  for (const one of more.toReversed()) putBack(chooser, one);
  return chosen;
}

/** What was counted on must be found again by the next look: whoever is not gets a machine now. */
function completed(study: Study, chosen: readonly Chosen[]): { chosen: readonly Chosen[]; packing: Packing } {
  const { chooser, groups, mayAsk, share, orders } = study;
  const [order = []] = orders;
  const all = [...chosen];
  for (let round = 1; ; round += 1) {
    const start = mark(chooser.world);
    const packing = place(study, all, true);
    if (packing.rest === 0 || round === mostRounds) return { chosen: all, packing };
    const more = chooseFor(chooser, { groups, order, left: packing.left.slice(), share, mayAsk });
    rollback(chooser.world, start);
    if (more.length === 0) {
      place(study, all, true);
      return { chosen: all, packing };
    }
    all.push(...more);
  }
}
