import { subtract } from '../cluster/resources.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import { addMachine, growPlace, type Place, type World } from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import type { Maker } from './maker.ts';
import { memberOrder } from './policies.ts';
import type { PolicyName } from './policy-names.ts';
import { createRows } from './rows.ts';

/** Machines that are alike to every pod and to every policy that looks at what a machine is. */
export interface Shelf {
  readonly pool: PoolSpec;
  /** Speaks for what all of them are, not for where they stand: once it is on, its host name is taken. */
  readonly example: Machine;
  readonly boxes: Box[];
  /** Equal for shelves of one pool whose machines have the same class and stand in the same domains. */
  readonly site?: object | undefined;
  /** Made on demand: there is always one more, or one that there is can be made larger. */
  readonly make?: Maker | undefined;
}

/** Those of a shelf that stand in the same rack, zone and circuit; the one to be taken next comes first. */
export interface Box {
  readonly shelf: Shelf;
  readonly members: Machine[];
  next: number;
}

export const head = ({ members, next }: Box): Machine | undefined => members[next];

export function advance(box: Box): void {
  box.next += 1;
  const another = box.shelf.make?.another;
  if (another && box.next >= box.members.length) box.members.push(another());
}

/** The next of any box: one that is not on yet stands for those that are not. */
export function nextOf({ boxes }: Shelf): Machine | undefined {
  for (const box of boxes) {
    const next = head(box);
    if (next) return next;
  }
  return undefined;
}

/** Gives a machine its place in the world; one that grows has it. */
export function enter(world: World, make: Maker | undefined, machine: Machine): Place {
  const grows = make?.lending?.grows;
  return grows
    ? growPlace(world, grows.place, subtract(machine.spec.resources, grows.machine.spec.resources))
    : addMachine(world, machine);
}

export function stock(
  world: World,
  machines: readonly Machine[],
  poolOf: ReadonlyMap<string, PoolSpec>,
  policiesOf: (pool: PoolSpec) => readonly PolicyName[],
): Shelf[] {
  const shelves: Shelf[] = [];
  const siteAt = createRows<{ readonly id: number }>();
  const shelfAt = createRows<{ readonly shelf: Shelf; readonly boxes: Map<string, Box> }>();
  const poolAt = new Map([...poolOf.keys()].map((name, index) => [name, index]));
  const { width, keys } = world;
  const classes = new Int32Array(machines.length);
  const free = new Float64Array(machines.length * width);
  const domains = new Int32Array(machines.length * keys);
  for (const [index, machine] of machines.entries())
    classes[index] = world.sites.sketch(machine, free, domains, index);
  const shared = sharedDomains(world, domains);
  let sites = 0;
  for (const [index, machine] of machines.entries()) {
    const { spec } = machine;
    const pool = poolOf.get(spec.pool);
    if (!pool) continue;
    const { watts, pricing, resources } = spec;
    const place = [classes[index] as number, poolAt.get(spec.pool) ?? none];
    shared(domains, index * keys, place);
    const site = siteAt(place, () => {
      sites += 1;
      return { id: sites };
    });
    const row = [
      site.id,
      watts?.idle ?? none,
      watts?.max ?? none,
      pricing?.hourlyRate ?? none,
      pricing?.podRate ?? none,
      resources.cpu ?? none,
      resources.memory ?? none,
    ];
    for (let column = 0; column < width; column++) row.push(free[index * width + column] as number);
    const found = shelfAt(row, () => {
      const shelf: Shelf = { pool, example: machine, boxes: [], site };
      shelves.push(shelf);
      return { shelf, boxes: new Map() };
    });
    const where = `${spec.zone}\n${spec.rack}\n${spec.powerCircuit}`;
    let box = found.boxes.get(where);
    if (!box) {
      box = { shelf: found.shelf, members: [], next: 0 };
      found.boxes.set(where, box);
      found.shelf.boxes.push(box);
    }
    box.members.push(machine);
  }
  for (const { boxes, pool } of shelves) {
    const compare = memberOrder(policiesOf(pool));
    for (const { members } of boxes)
      members.sort((a, b) => compare(a, b) || byText(a.spec.name, b.spec.name));
  }
  return shelves;
}

/** Stands for a number that is not declared. */
const none = -1;

/**
 * A domain that is one machine's own, as its host name is, makes it no different from another that has its own: only
 * domains that others are in tell machines apart.
 */
function sharedDomains(
  world: World,
  machines: Int32Array,
): (domains: Int32Array, from: number, into: number[]) => void {
  const counts = Array.from({ length: world.keys }, () => [] as number[]);
  const count = (rows: Int32Array, from: number): void => {
    for (let key = 0; key < world.keys; key += 1) {
      const domain = rows[from + key] as number;
      const ofKey = counts[key] as number[];
      if (domain >= 0) ofKey[domain] = (ofKey[domain] ?? 0) + 1;
    }
  };
  for (const { index } of world.places) count(world.domains, index * world.keys);
  for (let from = 0; from < machines.length; from += world.keys) count(machines, from);
  return (domains, from, into) => {
    for (let key = 0; key < world.keys; key += 1) {
      const domain = domains[from + key] as number;
      into.push(domain < 0 || ((counts[key] as number[])[domain] as number) > 1 ? domain : own);
    }
  };
}

/** Stands for a domain that nobody else is in. */
const own = -2;
