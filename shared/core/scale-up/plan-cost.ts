import type { Group } from '../decide/demand.ts';
import { mark, rollback } from '../simulate/simulated-cluster.ts';
import type { Chosen } from './greedy.ts';
import { enter } from './machine-groups.ts';
import type { Order } from './orders.ts';
import type { Left, Placement } from './pack.ts';
import { type Packing, settle } from './pack-all.ts';
import type { Draft, Study, Value } from './planning-context.ts';
import { billOf, wattsAt } from './policies.ts';

export function isBetter(a: Value, b: Value): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (Math.abs(value - other) > 1e-9 * Math.max(1, Math.abs(value))) return value < other;
  }
  return false;
}

/** Gives the machines their places, and everybody theirs; in one order alone where it is given. */
export function place(study: Study, chosen: readonly Chosen[], exact = false, turn?: Order): Packing {
  const { chooser, groups, running, coming, share, looks } = study;
  const orders = turn ? [turn] : study.orders;
  const effort = looks.left > 0 ? (exact ? 'exact' : 'several') : 'quick';
  const added = chosen.flatMap(({ machine, box, addition }) => {
    const where = enter(chooser.world, box.shelf.make, machine);
    return addition ? [] : [where];
  });
  return settle(chooser.world, groups, orders, running, [...coming, ...added], share, effort);
}

/** How many numbers tell what the machines cost, and how many they are. */
const costs = 3;

export const leavesNobody = (value: Value): boolean =>
  value.slice(0, -costs).every((unserved) => unserved === 0);

/** A set of machines with everybody in place. Leaves the world as it was. */
export function draftWith(study: Study, chosen: readonly Chosen[], exact = false): Draft {
  const { world } = study.chooser;
  const before = mark(world);
  const packing = place(study, chosen, exact);
  rollback(world, before);
  return { chosen, packing, value: worthOf(study, chosen, packing) };
}

/** Who is not served, the important first; then what is lent and what the machines cost; then how many they are. */
export function worthOf(study: Study, chosen: readonly Chosen[], { left, rest, placements }: Packing): Value {
  const lent = chosen.reduce(
    (sum, one) => sum + (one.machine.spec.offer === undefined ? 0 : (billOf(one).pricing?.hourlyRate ?? 0)),
    0,
  );
  const cost = costOf(study, chosen, placements);
  const ownFirst = study.chooser.policiesOf(undefined).includes('own');
  // One that grows is no further machine.
  const machines = chosen.filter(({ addition }) => !addition).length;
  return [...unserved(study.groups, left), rest, ...(ownFirst ? [lent, cost] : [cost, lent]), machines];
}

/** Whether more, or more important, pods have a place. */
export const servesMore = (groups: readonly Group[], a: Packing, b: Packing): boolean =>
  isBetter([...unserved(groups, a.left), a.rest], [...unserved(groups, b.left), b.rest]);

function unserved(groups: readonly Group[], left: Left): number[] {
  const priorities = [...new Set(groups.map(({ kind }) => kind.priority))].sort((a, b) => b - a);
  const sums = new Map(priorities.map((priority) => [priority, 0]));
  for (const [index, { kind }] of groups.entries())
    sums.set(kind.priority, (sums.get(kind.priority) ?? 0) + (left[index] ?? 0));
  return [...sums.values()];
}

/** Watts or money, whichever policy stands first; machines where neither does. */
function costOf(
  { chooser, groups }: Study,
  chosen: readonly Chosen[],
  placements: readonly Placement[],
): number {
  const counts = chooser.policiesOf(undefined).find((name) => name === 'watts' || name === 'price');
  const used = new Map<string, { cpu: number; pods: number }>();
  for (const {
    group,
    place: { name },
    pods,
  } of placements) {
    const { cpu = 0, pods: already = 0 } = used.get(name) ?? {};
    used.set(name, { cpu: cpu + pods * (groups[group]?.kind.requests.cpu ?? 0), pods: already + pods });
  }
  let cost = 0;
  for (const one of chosen) {
    const { spec } = one.machine;
    const lent = spec.offer !== undefined;
    const { cpu = 0, pods = 0 } = used.get(spec.name) ?? {};
    if (counts === 'watts')
      cost += lent ? 0 : wattsAt(spec, cpu / (spec.resources.cpu || 1), chooser.surroundings.usualWatts);
    else if (counts === 'price')
      cost += (billOf(one).pricing?.hourlyRate ?? 0) + (spec.pricing?.podRate ?? 0) * pods;
    else cost += lent ? 0 : 1;
  }
  return cost;
}
