import { capacityOf, lifecycle } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { because, type Reason, textOf } from '../reasons/reason.ts';
import { leastOf } from '../remote/slice-sizing.ts';
import type { Eligible } from '../scale-up/candidates.ts';
import type { Chooser } from '../scale-up/chooser.ts';
import { type Box, head, nextOf } from '../scale-up/machine-groups.ts';
import {
  addMachine,
  mark,
  misfit,
  type PodKind,
  rollback,
  type World,
} from '../simulate/simulated-cluster.ts';
import { byText } from '../text.ts';
import type { OfferVerdict, Unmet } from './decision.ts';
import { type Group, windowOf } from './demand.ts';
import type { Situation } from './indexed-snapshot.ts';
import { podName } from './snapshot.ts';

/** So many kinds of pods are told about one by one. */
const mostTold = 50;

/** And so many offers with each. */
const mostOffers = 8;

/** And so many reasons of machines. */
const mostReasons = 8;

/** Why each machine that could have been powered on was not, and which limits had a part in it. */
export function refusals(
  { world, shelves, room }: Chooser,
  { rejected: known }: Eligible,
  needy: readonly Group[],
  unserved: boolean,
): { readonly rejected: Map<string, Reason>; readonly limits: Reason[] } {
  const rejected = new Map(known);
  const limits = new Set<Reason>();
  for (const shelf of shelves) {
    if (shelf.make?.lending?.grows) continue;
    const help = whyNoHelp(world, nextOf(shelf) ?? shelf.example, needy);
    for (const box of shelf.boxes) {
      const next = head(box);
      const limit = unserved && next ? room.refusal(leastOf(shelf, next)) : undefined;
      if (limit && help === notNeeded) limits.add(limit);
      if (shelf.make) continue;
      for (const { spec } of rest(box)) rejected.set(spec.name, help === notNeeded ? (limit ?? help) : help);
    }
  }
  return { rejected, limits: [...limits] };
}

const notNeeded: Reason = { code: 'not-needed' };

const rest = ({ members, next }: Box): readonly Machine[] => members.slice(next);

/** As the first pod that needs one would find it; "not needed" where it would do for somebody. */
function whyNoHelp(world: World, machine: Machine, needy: readonly Group[]): Reason {
  let first: Reason | undefined;
  for (const { kind } of needy) {
    const why = misfitOn(world, kind, machine);
    if (why === undefined) return notNeeded;
    first ??= why;
  }
  return first ?? notNeeded;
}

/** Why the pod could not run on the machine were it on and empty. */
export function misfitOn(world: World, kind: PodKind, machine: Machine): Reason | undefined {
  const before = mark(world);
  const place = addMachine(world, machine);
  const why = misfit(world, kind, place);
  rollback(world, before);
  return why;
}

/** For every kind of pod that is not served: what stands in the way on how many machines. */
export function whyUnmet(
  situation: Situation,
  world: World,
  { shelves }: Pick<Chooser, 'shelves'>,
  groups: readonly Group[],
  left: Int32Array,
  rejected: ReadonlyMap<string, Reason>,
  offers: readonly OfferVerdict[],
): Unmet[] {
  const unserved = groups.flatMap((group, index) => {
    const pods = left[index] ?? 0;
    return pods > 0 ? [{ group, pods }] : [];
  });
  const made = shelves.flatMap(({ make, example }) => (make && !make.lending?.grows ? [example] : []));
  const told = offers
    .flatMap(({ offer, reason }) => (reason ? [{ offer, reason }] : []))
    .slice(0, mostOffers);
  const named = unserved.slice(0, mostTold).map(({ group, pods }) => {
    const misfits = misfitsOf([...situation.machines, ...made], world, group, rejected);
    const main = mainReason(situation, misfits, shelves.length > 0, group, rejected);
    const pools = [...misfits].flatMap(([{ spec }, why]) => (why === undefined ? [spec.pool] : []));
    return {
      pod: podName(group.first),
      pods,
      ...because(told.length > 0 ? { code: 'nor-offers', because: main, offers: told } : main),
      pools: [...new Set(pools)].sort(byText),
    };
  });
  const others = unserved.slice(mostTold);
  const [next] = others;
  if (!next) return named;
  return [
    ...named,
    {
      pod: podName(next.group.first),
      pods: others.reduce((sum, { pods }) => sum + pods, 0),
      ...because({ code: 'more-groups', groups: others.length }),
    },
  ];
}

/** Why the pods could not run on each machine were it on and empty. Machines that are alike are judged once. */
function misfitsOf(
  machines: readonly Machine[],
  world: World,
  { kind }: Group,
  rejected: ReadonlyMap<string, Reason>,
): ReadonlyMap<Machine, Reason | undefined> {
  const judged = new Map<string, Reason | undefined>();
  const { impossible } = kind;
  const misfitOf = (machine: Machine): Reason | undefined =>
    impossible ?? misfitLike(world, kind, machine, rejected.has(machine.spec.name), judged);
  return new Map(machines.map((machine) => [machine, misfitOf(machine)]));
}

function mainReason(
  situation: Situation,
  misfits: ReadonlyMap<Machine, Reason | undefined>,
  offers: boolean,
  { kind, age }: Group,
  rejected: ReadonlyMap<string, Reason>,
): Reason {
  const { machines, pools, settings } = situation;
  if (kind.impossible !== undefined) return kind.impossible;
  if (machines.length === 0 && !offers) return { code: 'no-machines' };
  if (age === 0 && pools.length > 0) {
    const shortest = Math.min(...pools.map((pool) => windowOf(pool, settings)));
    return { code: 'waits-too-short', ms: shortest > 0 ? shortest : undefined };
  }
  const counts = new Map<string, { count: number; readonly reason: Reason }>();
  for (const machine of machines) {
    const reason = misfits.get(machine) ?? rejected.get(machine.spec.name) ?? busy(machine);
    const text = textOf(reason);
    const known = counts.get(text);
    if (known) known.count += 1;
    else counts.set(text, { count: 1, reason });
  }
  const reasons = [...counts.values()].sort((a, b) => b.count - a.count).slice(0, mostReasons);
  return { code: 'no-machine-fits', machines: machines.length, reasons };
}

/** Machines that are alike to every pod are judged once. */
function misfitLike(
  world: World,
  kind: PodKind,
  machine: Machine,
  off: boolean,
  judged: Map<string, Reason | undefined>,
): Reason | undefined {
  const { nodeClass, free, domains } = world.sites.ofMachine(machine);
  // The host name of a machine that stays off is its own: nothing is there that a pod could mind.
  const around = off ? domains.filter((_, key) => key !== world.topology.hostnameKey) : domains;
  const key = `${off} ${nodeClass.id} ${free.join()} ${around.join()}`;
  if (!judged.has(key)) judged.set(key, misfitOn(world, kind, machine));
  return judged.get(key);
}

function busy(machine: Machine): Reason {
  const { state } = machine.status;
  return capacityOf(machine) === 'leaving'
    ? { code: 'in-state', state, means: lifecycle[state].means }
    : { code: 'room-taken' };
}
