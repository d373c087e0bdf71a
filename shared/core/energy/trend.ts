import type { Use } from '../cluster/node-use.ts';
import { add, type Resources } from '../cluster/resources.ts';
import { capacityOf, states } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import { addEnergy } from './energy-saved.ts';

/** The fleet at one time: numbers by name, such as `state/ready`. Absent means not known. */
export interface Sample {
  readonly at: number;
  readonly values: Readonly<Record<string, number>>;
}

/** The older, the coarser: every tier is bounded. */
export const tiers = {
  minute: { everyMs: 60_000, most: 360 },
  'ten-minutes': { everyMs: 600_000, most: 1_008 },
  hour: { everyMs: 3_600_000, most: 720 },
} as const;
export type Tier = keyof typeof tiers;
export const tierNames = Object.keys(tiers) as readonly Tier[];

export type Trend = Readonly<Record<Tier, readonly Sample[]>>;

export const emptyTrend: Trend = { minute: [], 'ten-minutes': [], hour: [] };

/** Pools beyond this many, the smallest first, have no series of their own. */
const mostPools = 24;
/** Counted since the sample before: added up, where the others are averaged. */
const isCounter = (name: string): boolean => name.startsWith('begun/');

interface Fleet {
  readonly machines: readonly (Machine & {
    readonly history: readonly { readonly at: number; readonly to: string }[];
  })[];
  /** Absent, as what waits, while the cluster does not answer. */
  readonly use: Use | undefined;
  readonly waiting: number | undefined;
  /** When the sample before was taken. */
  readonly since: number;
}

export function sampleOf({ machines, use, waiting, since }: Fleet, now: number): Sample {
  const { watts, allOn } = addEnergy(undefined, machines, now);
  const begun = (state: string): number =>
    machines.reduce(
      (sum, { history }) =>
        sum + history.filter(({ at, to }) => to === state && at > since && at <= now).length,
      0,
    );
  const values: Record<string, number> = {
    'watts/now': Math.round(watts),
    'watts/all-on': Math.round(allOn),
    'begun/power-on': begun('powering-on'),
    'begun/drain': begun('draining'),
  };
  for (const state of states)
    values[`state/${state}`] = machines.filter(({ status }) => status.state === state).length;
  if (waiting !== undefined) values['pods/waiting'] = waiting;
  const pools = [...Map.groupBy(machines, ({ spec }) => spec.pool)]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, mostPools);
  for (const [pool, members] of pools) {
    const share = use && usedShare(members, use);
    if (share !== undefined) values[`used/${pool}`] = Math.round(share * 100);
  }
  return { at: now, values };
}

/** The scarcer of cpu and memory on machines that serve; undefined while none does. */
function usedShare(members: readonly Machine[], use: Use): number | undefined {
  const serving = members.filter((machine) => capacityOf(machine) === 'serving');
  if (serving.length === 0) return undefined;
  const sum = (of: (machine: Machine) => Resources) => serving.map(of).reduce(add, {});
  const has = sum(({ spec }) => spec.resources);
  const requested = sum(({ status }) => use.get(status.kubernetesNode ?? '')?.requests ?? {});
  return Math.max(...['cpu', 'memory'].map((name) => (requested[name] ?? 0) / Math.max(1, has[name] ?? 0)));
}

/** Adds a sample of now, and to a coarser tier what a whole period of the finer one amounts to. */
export function addSample(trend: Trend, sample: Sample): Trend {
  const added = { ...trend, minute: bounded('minute', [...trend.minute, sample]) };
  for (const [index, tier] of tierNames.entries()) {
    const finer = tierNames[index - 1];
    if (!finer) continue;
    const last = added[tier].at(-1)?.at ?? added[finer][0]?.at ?? sample.at;
    if (sample.at - last < tiers[tier].everyMs) break;
    const period = added[finer].filter(({ at }) => at > last);
    added[tier] = bounded(tier, [...added[tier], merged(period, sample.at)]);
  }
  return added;
}

const bounded = (tier: Tier, samples: readonly Sample[]): readonly Sample[] =>
  samples.slice(-tiers[tier].most);

function merged(samples: readonly Sample[], at: number): Sample {
  const values: Record<string, number> = {};
  for (const name of new Set(samples.flatMap(({ values: one }) => Object.keys(one)))) {
    const known = samples.flatMap(({ values: one }) => one[name] ?? []);
    const sum = known.reduce((total, value) => total + value, 0);
    values[name] = isCounter(name) ? sum : Math.round((sum / known.length) * 10) / 10;
  }
  return { at, values };
}

/** The samples since `from`: of the finest tier that is kept so long, and of finer ones for what is newer. */
export function samplesOf(trend: Trend, live: readonly Sample[], from: number, now: number): Sample[] {
  const keeps = ({ everyMs, most }: { readonly everyMs: number; readonly most: number }): boolean =>
    everyMs * most >= now - from;
  const enough = tierNames.findIndex((tier) => keeps(tiers[tier]));
  const used = tierNames.slice(0, (enough < 0 ? tierNames.length - 1 : enough) + 1).toReversed();
  const oldestLive = live[0]?.at ?? Number.POSITIVE_INFINITY;
  const found: Sample[] = [];
  for (const tier of used) {
    const after = found.at(-1)?.at ?? from;
    found.push(...trend[tier].filter(({ at }) => at > after && at < oldestLive));
  }
  return [...found, ...live.filter(({ at }) => at > from)];
}
