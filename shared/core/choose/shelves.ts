import type { Machine } from '../machine.ts';
import type { PolicyName } from '../policy-names.ts';
import { subtract } from '../resources.ts';
import type { PoolSpec } from '../settings.ts';
import { byText } from '../text.ts';
import { addMachine, growPlace, type Place, type World } from '../world/world.ts';
import type { Maker } from './made.ts';
import { memberOrder } from './policies.ts';

/** Machines that are alike to every pod and to every policy that looks at what a machine is. */
export interface Shelf {
  readonly pool: PoolSpec;
  /** Speaks for all of them. */
  readonly example: Machine;
  readonly boxes: Box[];
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
  const shelves = new Map<string, { shelf: Shelf; boxes: Map<string, Box> }>();
  const shared = sharedDomains(world, machines);
  for (const machine of machines) {
    const { spec } = machine;
    const pool = poolOf.get(spec.pool);
    if (!pool) continue;
    const { watts, pricing } = spec;
    const { nodeClass, free, domains } = world.sites.ofMachine(machine);
    const key = [
      nodeClass.id,
      ...free,
      ...shared(domains),
      spec.pool,
      watts?.idle,
      watts?.max,
      pricing?.hourlyRate,
      pricing?.podRate,
      spec.resources.cpu,
      spec.resources.memory,
    ].join();
    let found = shelves.get(key);
    if (!found) {
      found = { shelf: { pool, example: machine, boxes: [] }, boxes: new Map() };
      shelves.set(key, found);
    }
    const where = JSON.stringify([spec.zone, spec.rack, spec.powerCircuit]);
    const box = found.boxes.get(where);
    if (box) box.members.push(machine);
    else {
      const fresh: Box = { shelf: found.shelf, members: [machine], next: 0 };
      found.boxes.set(where, fresh);
      found.shelf.boxes.push(fresh);
    }
  }
  const result = [...shelves.values()].map(({ shelf }) => shelf);
  for (const { boxes, pool } of result) {
    const compare = memberOrder(policiesOf(pool));
    for (const { members } of boxes)
      members.sort((a, b) => compare(a, b) || byText(a.spec.name, b.spec.name));
  }
  return result;
}

/**
 * A domain that is one machine's own, as its host name is, makes it no different from another that has its own: only
 * domains that others are in tell machines apart.
 */
function sharedDomains(
  world: World,
  machines: readonly Machine[],
): (domains: Int32Array) => (number | string)[] {
  const counts = new Map<number, number>();
  const keyOf = (key: number, domain: number): number => key * 2 ** 32 + domain;
  const count = (row: (key: number) => number): void => {
    for (let key = 0; key < world.keys; key += 1) {
      const at = keyOf(key, row(key));
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
  };
  for (const { index } of world.places) count((key) => world.domains[index * world.keys + key] ?? -1);
  for (const machine of machines) {
    const { domains } = world.sites.ofMachine(machine);
    count((key) => domains[key] ?? -1);
  }
  return (domains) =>
    Array.from(domains, (domain, key) =>
      (counts.get(keyOf(key, domain)) ?? 0) > 1 || domain < 0 ? domain : 'own',
    );
}
