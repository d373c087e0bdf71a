import { type Chosen, putBack, retake, takeHead } from './greedy.ts';
import { type Box, head } from './machine-groups.ts';
import { draftWith, isBetter, leavesNobody } from './plan-cost.ts';
import type { Draft, Study } from './planning-context.ts';
import { policies } from './policies.ts';

/** So many sets of machines are looked at for one draft, at the most. */
const mostLooks = 300;

/** What it costs to ask whether one machine may replace another, in looks. */
const costOfAsking = 0.005;

/** So many machines are added at once when nothing less would do; what is too much is left out again. */
const mostSpares = 8;

/**
 * Leaves machines out, exchanges one for another, or two for one, as long as that is better. The machines are taken
 * already, and those of the result are in the end.
 */
export function improve(study: Study, draft: Draft, exact = false): Draft {
  let most = mostLooks;
  let current = draft;
  const mayLook = (): boolean => most > 0 && study.looks.left > 0;
  const accept = (next: readonly Chosen[]): boolean => {
    most -= 1;
    study.looks.left -= 1;
    const nextDraft = draftWith(study, next, exact);
    if (!isBetter(nextDraft.value, current.value)) return false;
    current = nextDraft;
    return true;
  };
  const steps = (): boolean =>
    step(study, current.chosen, 1, mayLook, accept) || step(study, current.chosen, 2, mayLook, accept);
  while (mayLook() && steps());
  return current;
}

/** Somebody is left over, and machines too: with all of them, and every way tried, perhaps nobody is. */
export function withSpares(study: Study, draft: Draft, trim: (draft: Draft) => Draft): Draft {
  const { chooser, groups, mayAsk } = study;
  if (study.looks.left <= 0 || leavesNobody(draft.value)) return draft;
  for (const one of draft.chosen) retake(chooser, one);
  const spares: Chosen[] = [];
  for (const shelf of chooser.shelves)
    for (const box of shelf.boxes) {
      if (shelf.make || !groups.every((group) => mayAsk(group, shelf))) continue;
      for (
        let next = head(box);
        next && !chooser.room.refusal(next.spec) && spares.length < mostSpares;
        next = head(box)
      )
        spares.push(takeHead(chooser, box));
    }
  const all = draftWith(study, [...draft.chosen, ...spares], true);
  const better = spares.length > 0 && isBetter(all.value, draft.value) ? trim(all) : undefined;
  for (const one of (better?.chosen ?? [...draft.chosen, ...spares]).toReversed()) putBack(chooser, one);
  return better ?? draft;
}

/** Tries to do without so many of them, or with one other instead. True when something was accepted. */
function step(
  study: Study,
  current: readonly Chosen[],
  fewer: 1 | 2,
  mayLook: () => boolean,
  accept: (next: readonly Chosen[]) => boolean,
): boolean {
  const { chooser } = study;
  if (!mayLook()) return false;
  for (const out of selections(current, fewer)) {
    if (!mayLook()) return false;
    const kept = current.filter((one) => !out.includes(one));
    for (const one of out.toReversed()) putBack(chooser, one);
    if (fewer === 1 && accept(kept)) return true;
    for (const box of chooser.shelves.flatMap(({ boxes }) => boxes)) {
      if (!mayLook()) break;
      study.looks.left -= costOfAsking;
      if (!mayReplace(study, box, out)) continue;
      const instead = takeHead(chooser, box);
      if (accept([...kept, instead])) return true;
      putBack(chooser, instead);
    }
    for (const one of out) retake(chooser, one);
  }
  return false;
}

/** One of each box, or two: within a box all are alike, and the last taken goes first. */
function selections(chosen: readonly Chosen[], fewer: 1 | 2): Chosen[][] {
  const lastOf = new Map<Box, Chosen[]>();
  for (const one of chosen) lastOf.set(one.box, [one, ...(lastOf.get(one.box) ?? [])].slice(0, 2));
  const firsts = [...lastOf.values()].flatMap(([one]) => one ?? []).reverse();
  if (fewer === 1) return firsts.map((one) => [one]);
  const pairs = [...lastOf.values()].filter((pair) => pair.length === 2).map((pair) => pair.toReversed());
  for (const [index, one] of firsts.entries())
    for (const other of firsts.slice(index + 1)) pairs.push([one, other]);
  return pairs;
}

/** Policies that stand before those that cost something may not be made worse. */
function mayReplace({ chooser, groups, mayAsk }: Study, box: Box, out: readonly Chosen[]): boolean {
  const { room, policiesOf, surroundings } = chooser;
  const machine = head(box);
  if (!machine || box.shelf.make || out.some((one) => one.box.shelf === box.shelf)) return false;
  if (room.refusal(machine.spec)) return false;
  // A pool with policies of its own has chosen by them, and who may not ask for the other pool yet does not get it.
  if ([box, ...out.map((one) => one.box)].some(({ shelf }) => shelf.pool.policies)) return false;
  if (groups.some((group) => !mayAsk(group, box.shelf) && out.some((one) => mayAsk(group, one.box.shelf))))
    return false;
  const names = policiesOf(undefined);
  const costs = names.findIndex((name) => name === 'watts' || name === 'price' || name === 'waste');
  return names.slice(0, Math.max(0, costs)).every((name) => {
    const score = (one: Chosen['machine'], pool: Box['shelf']['pool']): number =>
      policies[name].score({ machine: one, pool, ...nothing }, surroundings);
    return out.every((one) => score(machine, box.shelf.pool) <= score(one.machine, one.box.shelf.pool));
  });
}

const nothing = { served: 0, pods: 0, use: { cpu: 0, memory: 0 }, liking: 0 } as const;
