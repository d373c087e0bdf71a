import type { Room } from '../limits/room.ts';
import type { Machine, MachineSpec } from '../machine.ts';
import type { PolicyName } from '../policy-names.ts';
import type { PoolSpec } from '../settings.ts';
import type { World } from '../world/world.ts';
import { carryOut, type Demand, type Fill, stillHolds, tryFill } from './fill.ts';
import { leastOf, trySlice } from './lending.ts';
import { fitted } from './made.ts';
import { best, billOf, type Option, type Surroundings, scoresOf } from './policies.ts';
import { advance, type Box, head, type Shelf } from './shelves.ts';

/** A machine to be powered on. */
export interface Chosen {
  readonly machine: Machine;
  readonly box: Box;
  readonly pods: number;
  readonly score: Readonly<Record<string, number>>;
  /** Of one that is on already and grows: what is added to it. */
  readonly addition?: MachineSpec | undefined;
}

export interface Chooser {
  readonly world: World;
  readonly shelves: readonly Shelf[];
  readonly room: Room;
  readonly policiesOf: (pool: PoolSpec | undefined) => readonly PolicyName[];
  readonly surroundings: Surroundings;
  /** Tells the surroundings of a machine that is on now, or (-1) is not after all. */
  readonly count: (machine: Machine, sign: 1 | -1) => void;
}

interface Choice extends Option {
  readonly box: Box;
}

/**
 * One machine after the other: each time the one that the policies prefer for what is left, until nothing is or
 * nothing helps. What a machine would take is worked out once per shelf and again only when it may have changed and
 * the shelf would win: so a thousand machines for fifty thousand pods cost little more than one.
 */
export function chooseFor(chooser: Chooser, demand: Demand): Chosen[] {
  const { world, shelves, room } = chooser;
  const fills = new Map<Shelf, Fill>();
  const fresh = new Set<Shelf>();
  const refill = (shelf: Shelf): Fill => {
    const fill = shelf.make?.lending
      ? trySlice(world, shelf, shelf.make.lending, room, demand)
      : tryFill(world, shelf, shelf.example, demand);
    fills.set(shelf, fill);
    fresh.add(shelf);
    return fill;
  };
  const lent = shelves.filter(({ make }) => make?.lending);
  const picks: Chosen[] = [];
  let open = shelves.flatMap(({ boxes }) => boxes);
  for (;;) {
    open = open.filter((box) => {
      const machine = head(box);
      return machine !== undefined && room.refusal(leastOf(box.shelf, machine)) === undefined;
    });
    const choices: Choice[] = [];
    for (const box of open) {
      const fill = fills.get(box.shelf) ?? refill(box.shelf);
      const machine = head(box);
      if (fill.served > 0 && machine)
        choices.push({ ...fill, ...(fill.slice ?? { machine }), pool: box.shelf.pool, box });
    }
    const choice = preferred(choices, chooser);
    if (!choice) return picks;
    const { shelf } = choice.box;
    const known = fills.get(shelf);
    if (!known) return picks;
    if (!fresh.has(shelf) && !stillHolds(known, demand.left)) {
      refill(shelf);
      continue;
    }
    picks.push(take(chooser, choice, known, demand));
    fresh.clear();
    // Whatever is taken leaves less of the offer, or of the budget.
    for (const each of lent) fills.delete(each);
  }
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
function take(chooser: Chooser, choice: Choice, fill: Fill, demand: Demand): Chosen {
  const { world, policiesOf, surroundings } = chooser;
  const { box, machine: next } = choice;
  const { make } = box.shelf;
  const machine = make && !fill.slice ? fitted(world, make, next, fill, demand.groups) : next;
  const score = scoresOf(choice, policiesOf(choice.pool), surroundings);
  carryOut(world, make, machine, fill, demand);
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
