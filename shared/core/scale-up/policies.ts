import type { Resources } from '../cluster/resources.ts';
import type { PressureCategory } from '../decide/snapshot.ts';
import type { Machine, MachineSpec } from '../machine/machine.ts';
import type { Offer } from '../remote/offer.ts';
import type { PoolSpec, Settings } from '../settings.ts';
import type { PolicyName } from './policy-names.ts';

/** A machine that might be powered on, and what it would do. */
export interface Option {
  readonly machine: Machine;
  readonly pool: PoolSpec;
  /** Of one that is on already and grows: what is added to it. */
  readonly addition?: MachineSpec | undefined;
  /** What it would serve of the demand: 0 when it is wanted for itself. */
  readonly served: number;
  readonly pods: number;
  /** Shares of its cpu and memory that would be used. */
  readonly use: { readonly cpu: number; readonly memory: number };
  /** How much the pods would like it there, as the scheduler scores it. */
  readonly liking: number;
}

/** What a policy may look at beside the machine itself. */
export interface Surroundings {
  /** How many are on, or chosen already, in the same place. */
  readonly neighbours: (field: 'zone' | 'rack' | 'powerCircuit', value: string | undefined) => number;
  /** What a machine draws that does not say so. */
  readonly usualWatts: number;
  /** All machines count the same: the fewest are sought, not the fewest watts. */
  readonly flat?: boolean | undefined;
  readonly pressure?: Pressed | undefined;
  /** What remote clusters lend, by id. */
  readonly offers?: ReadonlyMap<string, Offer> | undefined;
}

/** The node that is short of something. */
export interface Pressed {
  readonly category: PressureCategory;
  /** What the node has. */
  readonly size: Resources;
  readonly weights: Settings['pressure'];
}

interface Policy {
  /** In the words of the documentation. */
  readonly means: string;
  /** Less is better. */
  readonly score: (option: Option, surroundings: Surroundings) => number;
  /** Values that differ by less than this share of the best are the same to it. */
  readonly tolerance?: number;
  /** Says nothing of what is lent: that is cut to size, and draws its power elsewhere. */
  readonly ownOnly?: boolean;
  /** Depends on what else is on: asked anew every time. */
  readonly changing?: boolean;
  /** Tells machines of one shelf and place apart. */
  readonly ofMember?: (machine: Machine) => number;
}

const usualBootMs = 300_000;

const isLent = ({ spec }: Machine): boolean => spec.offer !== undefined;

/** What counts against limits, and costs: of one that grows what is added. */
export const billOf = ({ machine, addition }: Pick<Option, 'machine' | 'addition'>): MachineSpec =>
  addition ?? machine.spec;

const attempts = ({ status, metrics }: Machine): number =>
  status.attempts + (metrics.health === 'warning' ? 1 : 0);
const bootMs = ({ status }: Machine): number => status.learnedBootMs ?? usualBootMs;
const restingSince = ({ status }: Machine): number => status.stateSince;

/** What it draws when so much of its cpu is used: in between idle and all of it. */
export const wattsAt = (spec: MachineSpec, use: number, usual: number): number =>
  spec.watts ? spec.watts.idle + (spec.watts.max - spec.watts.idle) * Math.min(1, use) : usual;

/** What is wanted for itself serves nothing: then the machine as such is compared. */
const perServed = (cost: number, { served }: Option): number => (served > 0 ? cost / served : cost);

export const policies: Readonly<Record<PolicyName, Policy>> = {
  priority: {
    means: 'pools with a higher priority',
    score: ({ pool }) => -pool.priority,
  },
  own: {
    means: "one's own machines before what is lent",
    score: ({ machine }) => (isLent(machine) ? 1 : 0),
  },
  health: {
    means: 'machines without failures or warnings',
    score: ({ machine }) => attempts(machine),
    ofMember: attempts,
  },
  pressure: {
    means: 'against pressure: what comes closest to doubling the resource that is short',
    score: ({ machine }, { pressure }) => (pressure ? distance(machine.spec, pressure) : 0),
    tolerance: 0.01,
  },
  watts: {
    means: 'the fewest watts for what it would serve',
    score: (option, { usualWatts, flat }) =>
      perServed(flat ? 1 : wattsAt(option.machine.spec, option.use.cpu, usualWatts), option),
    tolerance: 0.01,
    ownOnly: true,
  },
  waste: {
    means: 'the smallest share left unused',
    score: ({ use, served }) => (served > 0 ? 1 - (use.cpu + use.memory) / 2 : 0),
    tolerance: 0.01,
    ownOnly: true,
  },
  preference: {
    means: 'what the pods prefer, by their preferred affinities and spreads',
    score: ({ liking }) => -liking,
    ownOnly: true,
  },
  price: {
    means: 'the lowest hourly price for what it would serve',
    score: (option) => {
      const { hourlyRate = 0, podRate = 0 } = billOf(option).pricing ?? {};
      return perServed(hourlyRate + podRate * option.pods, option);
    },
    tolerance: 0.01,
  },
  nearness: {
    means: 'of what is lent: the regions that its pool prefers, in that order, then what answers faster',
    score: distanceTo,
  },
  diversity: {
    means: 'zones, then racks, then circuits with fewer machines on',
    changing: true,
    score: ({ machine: { spec } }, { neighbours }) =>
      (neighbours('zone', spec.zone) * 1e5 + neighbours('rack', spec.rack)) * 1e5 +
      neighbours('powerCircuit', spec.powerCircuit),
  },
  'boot-time': {
    means: 'those that boot faster, as learned; five minutes where it is not known',
    score: ({ machine }) => bootMs(machine),
    tolerance: 0.1,
    ofMember: bootMs,
  },
  wear: {
    means: 'those that have rested longest',
    score: ({ machine }) => restingSince(machine),
    ofMember: restingSince,
  },
};

/** Slower than anything that was measured. */
const farMs = 1e6;

/** Regions count first, then milliseconds. */
function distanceTo({ machine, pool }: Option, { offers }: Surroundings): number {
  const offer = offers?.get(machine.spec.offer ?? '');
  if (!offer) return 0;
  const regions = pool.template.provider?.offers?.regions ?? [];
  const rank = regions.indexOf(offer.region ?? '');
  return (rank < 0 ? regions.length : rank) * farMs + Math.min(farMs - 1, offer.latencyMs ?? farMs - 1);
}

/** Which resource of a machine helps against pressure; nothing a machine declares helps a network. */
const useful: Readonly<Record<PressureCategory, string | undefined>> = {
  cpu: 'cpu',
  memory: 'memory',
  storage: 'ephemeral-storage',
  'ephemeral-storage': 'ephemeral-storage',
  network: undefined,
};

/** 1 × the useful resource, 0.25 × the others, as ratios to the node under pressure: an equal one is ideal. */
function distance({ resources }: MachineSpec, { category, size, weights }: Pressed): number {
  let score = 0;
  for (const name of ['cpu', 'memory', 'ephemeral-storage']) {
    const has = size[name] ?? 0;
    if (has === 0) continue;
    const weight = name === useful[category] ? weights.useful : weights.others;
    score += weight * ((resources[name] ?? 0) / has - 1);
  }
  return Math.abs(score);
}

/** Compares machines that differ in nothing but themselves. */
export function memberOrder(names: readonly PolicyName[]): (a: Machine, b: Machine) => number {
  const measures = names.flatMap((name) => policies[name].ofMember ?? []);
  return (a, b) => {
    for (const measure of measures) {
      const difference = measure(a) - measure(b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** Each policy in turn keeps those it cannot tell from the best; the first of those that remain is it. */
export function best<Choice extends Option>(
  options: readonly Choice[],
  names: readonly PolicyName[],
  surroundings: Surroundings,
): Choice | undefined {
  let remaining = options;
  for (const name of names) {
    if (remaining.length <= 1) break;
    const { score, tolerance = 0, ownOnly } = policies[name];
    const scores = remaining.map((option) =>
      ownOnly && isLent(option.machine) ? undefined : score(option, surroundings),
    );
    let lowest = Number.POSITIVE_INFINITY;
    for (const value of scores) if (value !== undefined && value < lowest) lowest = value;
    if (lowest === Number.POSITIVE_INFINITY) continue;
    const limit = lowest + Math.abs(lowest) * tolerance;
    remaining = remaining.filter((_, index) => (scores[index] ?? lowest) <= limit);
  }
  return remaining[0];
}

export const scoresOf = (
  option: Option,
  names: readonly PolicyName[],
  surroundings: Surroundings,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    names
      .filter((name) => !(policies[name].ownOnly && isLent(option.machine)))
      .map((name) => [name, round(policies[name].score(option, surroundings))]),
  );

/** Records are read by people: six digits are enough. */
const round = (value: number): number => Number(value.toPrecision(6));
