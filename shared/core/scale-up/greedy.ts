import type { Machine, MachineSpec } from '../machine/machine.ts';
import { leastOf, trySlice } from '../remote/slice-sizing.ts';
import type { Chooser } from './chooser.ts';
import { createDominance } from './dominance.ts';
import { advance, type Box, head, nextOf, type Shelf } from './machine-groups.ts';
import { fitted } from './on-demand.ts';
import type { Placement } from './pack.ts';
import { best, billOf, type Option, scoresOf } from './policies.ts';
import { createRanking, type Ranking } from './ranking.ts';
import { carryOut, type Demand, type Fill, nothing, stillHolds, tryFill } from './try-machine.ts';

/** A machine to be powered on. */
export interface Chosen {
  readonly machine: Machine;
  readonly box: Box;
  readonly pods: number;
  readonly score: Readonly<Record<string, number>>;
  /** Of one that is on already and grows: what is added to it. */
  readonly addition?: MachineSpec | undefined;
}

/**
 * So many shelves are asked again before a machine is chosen. What a shelf would hold only gets less, so the ones that
 * looked best are asked first, and the best of those that were asked is nearly always the best of all.
 */
const mostAsked = 8;

/**
 * One machine after the other: each time the one that the policies prefer for what is left, until nothing is or
 * nothing helps. What a machine would take is worked out once per shelf, and again only when it may have changed and
 * the shelf would win.
 */
export function chooseFor(
  chooser: Chooser,
  demand: Demand,
  placed: (placement: Placement) => void = () => {},
): Chosen[] {
  const { world, shelves, room, surroundings } = chooser;
  const boxes = shelves.flatMap((shelf) => shelf.boxes);
  const boxesOf = new Map(shelves.map((shelf) => [shelf, [] as number[]]));
  for (const [at, { shelf }] of boxes.entries()) boxesOf.get(shelf)?.push(at);
  const ranking = createRanking(boxes.length, surroundings);
  const choose = createChoice(chooser, boxes, ranking);
  const fills = new Map<Shelf, Fill>();
  /** Boxes whose fill was worked out after the last machine was taken. */
  const fresh = new Uint8Array(boxes.length);
  /** Boxes that a limit refuses: what is taken only makes it tighter. */
  const refused = new Uint8Array(boxes.length);
  const lent = shelves.filter(({ make }) => make?.lending);
  const offer = (at: number, fill: Fill): void => {
    const box = boxes[at] as Box;
    const machine = head(box);
    const isOption = machine && fill.served > 0 && refused[at] === 0;
    ranking.set(at, isOption ? { ...fill, ...(fill.slice ?? { machine }), pool: box.shelf.pool } : undefined);
  };
  const ask = (shelf: Shelf): void => {
    const next = nextOf(shelf);
    const lending = shelf.make?.lending;
    const fill = !next
      ? nothing
      : lending
        ? trySlice(world, shelf, lending, room, demand)
        : tryFill(world, shelf, next, demand);
    fills.set(shelf, fill);
    for (const at of boxesOf.get(shelf) ?? []) {
      fresh[at] = 1;
      offer(at, fill);
    }
  };
  const dominance = createDominance(chooser);
  /** Those that were held back by a shelf which has nothing left are asked now. */
  const wakeBehind = (shelf: Shelf): void => {
    const gone = (boxesOf.get(shelf) ?? []).every((at) => refused[at] === 1 || !head(boxes[at] as Box));
    if (gone) for (const each of dominance.exhausted(shelf)) ask(each);
  };
  const picks: Chosen[] = [];
  let waiting = demand.left.reduce((sum, pods) => sum + pods, 0);
  for (const shelf of shelves) if (!dominance.isAsleep(shelf)) ask(shelf);
  for (let asked = 0; waiting > 0; ) {
    const at = choose(asked < mostAsked ? undefined : fresh);
    if (at < 0) {
      // What nobody could use before may be of use now that others have their places.
      if (ranking.count === 0)
        for (const [shelf, [first = 0]] of boxesOf)
          if (fresh[first] === 0 && !dominance.isAsleep(shelf)) ask(shelf);
      if (ranking.count === 0) return picks;
      asked = 0;
      continue;
    }
    const box = boxes[at] as Box;
    const { shelf } = box;
    const option = ranking.get(at) as Option;
    const fill = fills.get(shelf) as Fill;
    if (room.refusal(leastOf(shelf, option.machine)) !== undefined) {
      refused[at] = 1;
      ranking.set(at, undefined);
      wakeBehind(shelf);
      continue;
    }
    if (fresh[at] === 0 && !stillHolds(fill, demand.left)) {
      ask(shelf);
      asked += 1;
      continue;
    }
    picks.push(take(chooser, box, option, fill, demand, placed));
    waiting -= fill.pods;
    asked = 0;
    fresh.fill(0);
    offer(at, fill);
    // Whatever is taken leaves less of the offer, or of the budget.
    for (const each of lent) ask(each);
    wakeBehind(shelf);
  }
  return picks;
}

/** A pool's own policies choose among its machines, everybody's among the pools' winners. */
function createChoice(
  { policiesOf }: Chooser,
  boxes: readonly Box[],
  ranking: Ranking,
): (only?: Uint8Array) => number {
  const indexes = (holds: (box: Box) => boolean): Int32Array =>
    Int32Array.from([...boxes.keys()].filter((at) => holds(boxes[at] as Box)));
  const own = [...new Set(boxes.map(({ shelf }) => shelf.pool).filter((pool) => pool.policies))].map(
    (pool) => ({ pool, among: indexes(({ shelf }) => shelf.pool === pool) }),
  );
  const others = indexes(({ shelf }) => !shelf.pool.policies);
  const common = policiesOf(undefined);
  if (own.length === 0) return (only) => ranking.best(others, common, only);
  return (only) => {
    const winners = own.map(({ pool, among }) => ranking.best(among, policiesOf(pool), only));
    return ranking.best(Int32Array.from([...others, ...winners.filter((at) => at >= 0)]), common, only);
  };
}

/** A pool's own policies choose among its machines, everybody's among the pools' winners. */
export function preferred<Some extends Option>(
  choices: readonly Some[],
  { policiesOf, surroundings }: Pick<Chooser, 'policiesOf' | 'surroundings'>,
): Some | undefined {
  const own = new Set(choices.map(({ pool }) => pool).filter((pool) => pool.policies));
  const winners = [...own].flatMap(
    (pool) =>
      best(
        choices.filter((choice) => choice.pool === pool),
        policiesOf(pool),
        surroundings,
      ) ?? [],
  );
  const others = own.size === 0 ? choices : choices.filter(({ pool }) => !own.has(pool));
  return best([...others, ...winners], policiesOf(undefined), surroundings);
}

/** Takes the machine from its box and gives it its place and pods. */
function take(
  chooser: Chooser,
  box: Box,
  option: Option,
  fill: Fill,
  demand: Demand,
  placed: (placement: Placement) => void,
): Chosen {
  const { world, policiesOf, surroundings } = chooser;
  const { make } = box.shelf;
  const { machine: next } = option;
  const machine = make && !fill.slice ? fitted(world, make, next, fill, demand.groups) : next;
  const score = scoresOf(option, policiesOf(option.pool), surroundings);
  const place = carryOut(world, make, machine, fill, demand);
  for (const [group, pods] of fill.takes) placed({ group, place, pods });
  return retake(chooser, { machine, box, pods: fill.pods, score, addition: fill.slice?.addition });
}

/** Takes the next of a box, whatever it will hold. */
export function takeHead(chooser: Chooser, box: Box): Chosen {
  const machine = head(box) ?? box.shelf.example;
  return retake(chooser, { machine, box, pods: 0, score: {} });
}

/** Takes once more what was put back. */
export function retake({ room, count }: Chooser, chosen: Chosen): Chosen {
  advance(chosen.box);
  room.take(billOf(chosen));
  count(chosen.machine, 1);
  return chosen;
}

/** Takes back what was chosen; its place goes with a rollback of the world. */
export function putBack({ room, count }: Chooser, chosen: Chosen): void {
  chosen.box.next -= 1;
  room.giveBack(billOf(chosen));
  count(chosen.machine, -1);
}
