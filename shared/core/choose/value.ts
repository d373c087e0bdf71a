import type { Group } from '../demand.ts';
import { addMachine, mark, rollback } from '../world/world.ts';
import type { Chosen } from './greedy.ts';
import type { Left, Placement } from './pack.ts';
import { wattsAt } from './policies.ts';
import { type Packing, settle } from './settle.ts';
import type { Study } from './study.ts';

/** What a set of machines is worth: less is better, the first difference counts. */
export type Value = readonly number[];

export function isBetter(a: Value, b: Value): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (Math.abs(value - other) > 1e-9 * Math.max(1, Math.abs(value))) return value < other;
  }
  return false;
}

/** Gives the machines their places, and everybody theirs. */
export function place(study: Study, chosen: readonly Chosen[], exact = false): Packing {
  const { chooser, groups, orders, running, coming, share, small } = study;
  const effort = small ? (exact ? 'exact' : 'several') : 'quick';
  const added = chosen.map(({ machine }) => addMachine(chooser.world, machine));
  return settle(chooser.world, groups, orders, running, [...coming, ...added], share, effort);
}

/** Who is not served, the important first; then what the machines cost; then how many they are. */
export function worth(study: Study, chosen: readonly Chosen[], exact = false): Value {
  const { world } = study.chooser;
  const before = mark(world);
  const { left, rest, placements } = place(study, chosen, exact);
  rollback(world, before);
  return [...unserved(study.groups, left), rest, costOf(study, chosen, placements), chosen.length];
}

function unserved(groups: readonly Group[], left: Left): number[] {
  const priorities = [...new Set(groups.map(({ kind }) => kind.priority))].sort((a, b) => b - a);
  return priorities.map((priority) =>
    groups.reduce((sum, { kind }, index) => sum + (kind.priority === priority ? (left[index] ?? 0) : 0), 0),
  );
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
  for (const { machine } of chosen) {
    const { spec } = machine;
    const { cpu = 0, pods = 0 } = used.get(spec.name) ?? {};
    if (counts === 'watts')
      cost += wattsAt(spec, cpu / (spec.resources.cpu || 1), chooser.surroundings.usualWatts);
    else if (counts === 'price')
      cost += (spec.pricing?.hourlyRate ?? 0) + (spec.pricing?.podRate ?? 0) * pods;
    else cost += 1;
  }
  return cost;
}
