import type { Group } from '../demand.ts';
import type { Machine } from '../machine.ts';
import {
  addMachine,
  howMany,
  mark,
  type Place,
  preference,
  put,
  rollback,
  type World,
} from '../world/world.ts';
import type { Order } from './orders.ts';
import type { Left } from './pack.ts';
import type { Option } from './policies.ts';
import type { Shelf } from './shelves.ts';

/** What a machine of a shelf would take of what is left. */
export interface Fill extends Omit<Option, 'machine' | 'pool'> {
  /** Indexes of groups and how many pods of each. */
  readonly takes: readonly (readonly [number, number])[];
  /** Pods that look at other pods were asked: what is put elsewhere may change the answer. */
  readonly volatile: boolean;
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
export function tryFill(world: World, shelf: Shelf, machine: Machine, demand: Demand): Fill {
  const before = mark(world);
  const place = addMachine(world, machine);
  const fill = fillPlace(world, place, shelf, machine, demand);
  rollback(world, before);
  return fill;
}

function fillPlace(world: World, place: Place, shelf: Shelf, machine: Machine, demand: Demand): Fill {
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
    const taken = howMany(world, kind, place, waiting);
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

const looksAround = ({ kind }: Group): boolean =>
  kind.blockers.length > 0 || kind.affinity !== undefined || kind.spread.length > 0;

/** As long as there are as many pods left as it would take, it would take the same again. */
export const stillHolds = ({ takes, volatile }: Fill, left: Left): boolean =>
  !volatile && takes.every(([group, pods]) => (left[group] ?? 0) >= pods);

/** Gives the machine its place, and the pods of the fill theirs. */
export function carryOut(world: World, machine: Machine, { takes }: Fill, { groups, left }: Demand): Place {
  const place = addMachine(world, machine);
  for (const [index, pods] of takes) {
    const group = groups[index];
    if (!group) continue;
    put(world, group.kind, place, pods);
    left[index] = (left[index] ?? 0) - pods;
  }
  return place;
}
