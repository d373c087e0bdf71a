import type { Group } from '../demand.ts';
import type { Machine, MachineSpec } from '../machine.ts';
import {
  howMany,
  mark,
  type Place,
  type PodKind,
  preference,
  put,
  rollback,
  type World,
} from '../world/world.ts';
import type { Maker } from './made.ts';
import type { Order } from './orders.ts';
import type { Left } from './pack.ts';
import type { Option } from './policies.ts';
import { enter, type Shelf } from './shelves.ts';

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
  readonly order: Order;
  readonly left: Left;
  readonly share: Float64Array;
  /** Whether the group has waited long enough for machines of the shelf's pool. */
  readonly mayAsk: (group: Group, shelf: Shelf) => boolean;
}

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

function fillPlace(
  world: World,
  place: Place,
  shelf: Shelf,
  machine: Machine,
  demand: Demand,
  affords: ((place: Place) => boolean) | undefined,
): Fill {
  const { groups, order, left, share } = demand;
  const takes: [number, number][] = [];
  let served = 0;
  let pods = 0;
  let cpu = 0;
  let memory = 0;
  let liking = 0;
  let volatile = false;
  for (const index of order) {
    const group = groups[index];
    const waiting = left[index] ?? 0;
    if (!group || waiting === 0 || !demand.mayAsk(group, shelf)) continue;
    const { kind } = group;
    volatile ||= looksAround(group);
    const room = howMany(world, kind, place, waiting);
    const taken = affords && room > 0 ? affordable(world, kind, place, room, affords) : room;
    if (taken === 0) continue;
    liking += taken * preference(world, kind, place);
    put(world, kind, place, taken);
    takes.push([index, taken]);
    served += taken * (share[index] ?? 0);
    pods += taken;
    cpu += taken * (kind.requests.cpu ?? 0);
    memory += taken * (kind.requests.memory ?? 0);
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

const looksAround = ({ kind }: Group): boolean =>
  kind.blockers.length > 0 || kind.affinity !== undefined || kind.spread.length > 0;

/** As long as there are as many pods left as it would take, it would take the same again. */
export const stillHolds = ({ takes, volatile }: Fill, left: Left): boolean =>
  !volatile && takes.every(([group, pods]) => (left[group] ?? 0) >= pods);

/** Gives the machine its place, and the pods of the fill theirs. */
export function carryOut(
  world: World,
  make: Maker | undefined,
  machine: Machine,
  { takes }: Fill,
  { groups, left }: Demand,
): Place {
  const place = enter(world, make, machine);
  for (const [index, pods] of takes) {
    const group = groups[index];
    if (!group) continue;
    put(world, group.kind, place, pods);
    left[index] = (left[index] ?? 0) - pods;
  }
  return place;
}
