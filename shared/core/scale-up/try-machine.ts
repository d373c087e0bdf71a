import type { Group } from '../decide/demand.ts';
import type { Machine, MachineSpec } from '../machine/machine.ts';
import { createQueue } from '../simulate/queue.ts';
import {
  answerOf,
  answers,
  howMany,
  looksAround,
  mark,
  type Place,
  type PodKind,
  preference,
  put,
  rollback,
  type World,
} from '../simulate/simulated-cluster.ts';
import { createDemandIndex, type DemandIndex, type Family } from './demand-index.ts';
import { enter, type Shelf } from './machine-groups.ts';
import type { Maker } from './maker.ts';
import type { Order } from './orders.ts';
import type { Left } from './pack.ts';
import type { Option } from './policies.ts';

export const nothing: Fill = {
  takes: [],
  volatile: false,
  served: 0,
  pods: 0,
  use: { cpu: 0, memory: 0 },
  liking: 0,
};

/** What a machine of a shelf would take of what is left. */
export interface Fill extends Omit<Option, 'machine' | 'pool'> {
  /** Indexes of groups and how many pods of each. */
  readonly takes: readonly (readonly [number, number])[];
  /** Pods that look at other pods were asked: what is put elsewhere may change the answer. */
  readonly volatile: boolean;
  /** Lent: the machine, cut to what it is to hold; and of one that grows, what is added. */
  readonly slice?: Slice | undefined;
}

interface Slice {
  readonly machine: Machine;
  readonly addition?: MachineSpec | undefined;
}

export interface Demand {
  readonly groups: readonly Group[];
  readonly left: Left;
  readonly index: DemandIndex;
  readonly share: Float64Array;
  /** Whether the group has waited long enough for machines of the shelf's pool: the same for all of a family. */
  readonly mayAsk: (group: Group, shelf: Shelf) => boolean;
  /** Whether it is to be served from the shelf, whatever others of its family do. */
  readonly prefers?: ((group: Group, shelf: Shelf) => boolean) | undefined;
}

/** What is left of the groups, to be served in the given order. */
export const demandOf = (
  world: World,
  groups: readonly Group[],
  order: Order,
  left: Left,
  share: Float64Array,
  mayAsk: Demand['mayAsk'],
): Demand => ({ groups, left, share, mayAsk, index: createDemandIndex(world, groups, order, left) });

/** Tries it and takes it back. */
export function tryFill(
  world: World,
  shelf: Shelf,
  machine: Machine,
  demand: Demand,
  affords?: (place: Place) => boolean,
): Fill {
  const before = mark(world);
  const place = enter(world, shelf.make, machine);
  const fill = fillPlace(world, place, shelf, machine, demand, affords);
  rollback(world, before);
  return fill;
}

/**
 * Gives the place what it can take of every group, in their order. A family waits in the queue with the first of its
 * groups that fits; a family that the place refuses is not asked again.
 */
function fillPlace(
  world: World,
  place: Place,
  shelf: Shelf,
  machine: Machine,
  demand: Demand,
  affords: ((place: Place) => boolean) | undefined,
): Fill {
  const { groups, left, share, index } = demand;
  const takes: [number, number][] = [];
  let served = 0;
  let pods = 0;
  let cpu = 0;
  let memory = 0;
  let liking = 0;
  let volatile = false;
  const row = place.index * world.width;
  const queue = createQueue<Family>();
  const enqueue = (family: Family, start: number): void => {
    const at = index.first(family, start, world.free, row);
    if (at >= 0) queue.push(family.ranks[at] as number, at, family);
  };
  /** Families that miss pods to be near of, and may find them among those that were put since. */
  let lonely: Family[] = [];
  let next = 0;
  const pass = (families: readonly Family[]): void => {
    next = 0;
    while (!index.isFull(world.free, row)) {
      for (; next < families.length; next += 1) {
        const family = families[next] as Family;
        if ((family.ranks[0] as number) > queue.least()) break;
        if (demand.mayAsk(family.group, shelf)) enqueue(family, 0);
      }
      const item = queue.pop();
      if (!item) return;
      const { value: family, at } = item;
      const which = family.groups[at] as number;
      const group = groups[which] as Group;
      const { kind } = group;
      if (demand.prefers && !demand.prefers(group, shelf)) {
        enqueue(family, at + 1);
        continue;
      }
      volatile ||= looksAround(kind);
      const answer = answerOf(world, kind, place);
      if (answer === answers.full) enqueue(family, at);
      else if (answer === answers.lonelyHere || answer === answers.lonelyAround) lonely.push(family);
      if (answer !== answers.yes) continue;
      const room = howMany(world, kind, place, left[which] ?? 0);
      const taken = affords ? affordable(world, kind, place, room, affords) : room;
      if (taken > 0) {
        liking += taken * preference(world, kind, place);
        put(world, kind, place, taken);
        takes.push([which, taken]);
        served += taken * (share[which] ?? 0);
        pods += taken;
        cpu += taken * (kind.requests.cpu ?? 0);
        memory += taken * (kind.requests.memory ?? 0);
      }
      enqueue(family, at + 1);
    }
    queue.clear();
  };
  pass(index.families);
  for (let before = 0; lonely.length > 0 && pods > before; ) {
    before = pods;
    const again = lonely.sort((a, b) => (a.ranks[0] as number) - (b.ranks[0] as number));
    lonely = [];
    pass(again);
  }
  const { resources } = machine.spec;
  return {
    takes,
    served,
    pods,
    use: { cpu: cpu / (resources.cpu || 1), memory: memory / (resources.memory || 1) },
    liking,
    volatile,
  };
}

/** How many of them there may be before it gets too dear. */
function affordable(
  world: World,
  kind: PodKind,
  place: Place,
  room: number,
  affords: (place: Place) => boolean,
): number {
  const may = (pods: number): boolean => {
    const before = mark(world);
    put(world, kind, place, pods);
    const yes = affords(place);
    rollback(world, before);
    return yes;
  };
  let least = 0;
  let most = room;
  while (least < most) {
    const half = Math.ceil((least + most) / 2);
    if (may(half)) least = half;
    else most = half - 1;
  }
  return least;
}

/** As long as there are as many pods left as it would take, it would take the same again. */
export const stillHolds = ({ takes, volatile }: Fill, left: Left): boolean =>
  !volatile && takes.every(([group, pods]) => (left[group] ?? 0) >= pods);

/** Gives the machine its place, and the pods of the fill theirs. */
export function carryOut(
  world: World,
  make: Maker | undefined,
  machine: Machine,
  { takes }: Fill,
  { groups, index }: Demand,
): Place {
  const place = enter(world, make, machine);
  for (const [which, pods] of takes) {
    put(world, (groups[which] as Group).kind, place, pods);
    index.placed(which, pods);
  }
  return place;
}
