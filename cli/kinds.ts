import { didYouMean } from '../shared/schema/did-you-mean.ts';
import {
  type DecisionSummary,
  DecisionSummaryShape,
  HistoryShape,
  type HistoryView,
  MachineShape,
  type MachineView,
  OperationShape,
  type OperationView,
  PodShape,
  type PodView,
  PoolShape,
  type PoolView,
} from '../shared/view/shapes.ts';
import { UsageError } from './command.ts';
import type { Kind } from './kind.ts';
import type { Tone } from './output/table.ts';
import { age, amounts, share } from './output/words.ts';
import { offers, peering } from './remote-kinds.ts';

const capacityTone: Readonly<Record<MachineView['capacity'], Tone | undefined>> = {
  none: undefined,
  coming: 'busy',
  serving: 'good',
  leaving: 'busy',
};
export const machineTone = ({ capacity, error, health }: MachineView): Tone | undefined =>
  (capacity === 'none' && error) || health.status === 'critical' ? 'bad' : capacityTone[capacity];

const healthTone: Readonly<Record<PoolView['health']['status'], Tone | undefined>> = {
  healthy: 'good',
  degraded: 'busy',
  offline: 'bad',
  unknown: undefined,
};
export const poolTone = ({ health }: PoolView): Tone | undefined => healthTone[health.status];

const endTone = ({ end }: OperationView): Tone | undefined =>
  (({ done: 'good', failed: 'bad', cancelled: 'busy' }) as const)[end ?? 'cancelled'];

const machines: Kind<MachineView> = {
  name: 'machines',
  one: 'machine',
  short: ['m', 'bmn'],
  path: '/api/machines',
  shape: MachineShape,
  nameOf: ({ name }) => name,
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'POOL', of: ({ pool }) => pool },
    {
      title: 'STATE',
      of: ({ state, maintenance }) => (maintenance && state !== 'maintenance' ? `${state}, held` : state),
      tone: machineTone,
    },
    { title: 'SINCE', of: ({ stateSince }, now) => age(stateSince, now) },
    { title: 'POWER', of: ({ power }) => (power.inferred ? `${power.state}?` : power.state) },
    { title: 'NODE', of: ({ node }) => node.name && `${node.name}${node.ready ? '' : ' (not Ready)'}` },
    { title: 'PODS', of: ({ node }) => node.pods },
    { title: 'CPU', of: ({ requested, resources }) => share(requested, resources, 'cpu') },
    { title: 'WATTS', of: ({ watts }) => watts.now },
    { title: 'SIZE', of: ({ resources }) => amounts(resources), wide: true },
    { title: 'RACK', of: ({ rack }) => rack, wide: true },
    { title: 'DRIVER', of: ({ powerInterface }) => powerInterface, wide: true },
    {
      title: 'BMC',
      of: ({ bmc }) => (bmc.reachable === undefined ? undefined : bmc.reachable ? 'answers' : 'silent'),
      wide: true,
    },
    { title: 'OPERATION', of: ({ operation }) => operation, wide: true },
    { title: 'WHY', of: ({ error, why }) => error?.message ?? why, wide: true },
  ],
};

const pools: Kind<PoolView> = {
  name: 'pools',
  one: 'pool',
  short: ['p', 'np'],
  path: '/api/pools',
  shape: PoolShape,
  nameOf: ({ name }) => name,
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'READY', of: ({ ready, machines: all }) => `${ready}/${all}` },
    { title: 'COMING', of: ({ pending }) => pending },
    { title: 'LEAVING', of: ({ leaving }) => leaving },
    { title: 'MIN', of: ({ limits }) => limits.minNodes },
    { title: 'MAX', of: ({ limits }) => limits.maxNodes || 'any' },
    { title: 'HEALTH', of: ({ health }) => health.status, tone: poolTone },
    { title: 'CPU', of: ({ requested, resources }) => share(requested, resources, 'cpu') },
    { title: 'WATTS', of: ({ watts }) => Math.round(watts.now) },
    { title: 'SERVES', of: ({ resources }) => amounts(resources), wide: true },
    { title: 'DECIDED BY', of: ({ managedBy }) => managedBy, wide: true },
    { title: 'WHY', of: ({ health }) => health.why, wide: true },
  ],
};

const decisions: Kind<DecisionSummary> = {
  name: 'decisions',
  one: 'decision',
  short: ['d'],
  path: '/api/decisions',
  shape: DecisionSummaryShape,
  nameOf: ({ id }) => id,
  columns: [
    { title: 'ID', of: ({ id }) => id },
    { title: 'AGE', of: ({ at }, now) => age(at, now) },
    { title: 'ON', of: ({ powerOn }) => powerOn.length },
    { title: 'DRAIN', of: ({ drain }) => drain.length },
    { title: 'UNMET', of: ({ unmet }) => unmet, tone: ({ unmet }) => (unmet > 0 ? 'bad' : undefined) },
    { title: 'SUMMARY', of: ({ summary }) => summary },
  ],
};

const operations: Kind<OperationView> = {
  name: 'operations',
  one: 'operation',
  short: ['op', 'ops'],
  path: '/api/operations',
  shape: OperationShape,
  nameOf: ({ id }) => id,
  columns: [
    { title: 'ID', of: ({ id }) => id },
    { title: 'MACHINE', of: ({ machine }) => machine },
    { title: 'GOAL', of: ({ goal }) => goal },
    { title: 'END', of: ({ end }) => end ?? 'under way', tone: endTone },
    { title: 'AGE', of: ({ createdAt }, now) => age(createdAt, now) },
    {
      title: 'TOOK',
      of: ({ createdAt, endedAt }) => (endedAt === undefined ? undefined : age(createdAt, endedAt)),
    },
    { title: 'COMMANDS', of: ({ commands }) => commands.map(({ verb }) => verb).join(', ') || undefined },
    { title: 'DECISION', of: ({ decision }) => decision, wide: true },
    { title: 'WHY', of: ({ error, why }) => error ?? why, wide: true },
  ],
};

const events: Kind<HistoryView> = {
  name: 'events',
  one: 'event',
  short: ['ev'],
  path: '/api/events',
  shape: HistoryShape,
  nameOf: ({ machine }) => machine,
  columns: [
    { title: 'AGE', of: ({ at }, now) => age(at, now) },
    { title: 'MACHINE', of: ({ machine }) => machine },
    { title: 'EVENT', of: ({ event }) => event },
    { title: 'STATE', of: ({ from, to }) => (from === to ? to : `${from} → ${to}`) },
    { title: 'BY', of: ({ by }) => by },
    { title: 'WHY', of: ({ why }) => why },
    { title: 'OPERATION', of: ({ operation }) => operation, wide: true },
  ],
};

const pods: Kind<PodView> = {
  name: 'pods',
  one: 'pod',
  short: ['po'],
  path: '/api/pods',
  shape: PodShape,
  nameOf: ({ namespace, name }) => `${namespace}/${name}`,
  columns: [
    { title: 'POD', of: ({ namespace, name }) => `${namespace}/${name}` },
    { title: 'WAITS', of: ({ since }, now) => age(since, now) },
    { title: 'ASKS FOR', of: ({ requests }) => amounts(requests) },
    { title: 'WHY', of: ({ why }) => why },
    { title: 'SCHEDULER', of: ({ scheduler }) => scheduler, wide: true },
  ],
};

export const kinds = { machines, pools, decisions, operations, events, pods, offers, peering } as const;
/** Whatever a kind's own type is: it is only ever given what it parsed itself. */
export type AnyKind = Kind<never>;
export const kindList = Object.values(kinds) as readonly unknown[] as readonly AnyKind[];

export function kindOf(word: string | undefined): AnyKind {
  const found = kindList.find(
    ({ name, one, short }) => word !== undefined && [name, one, ...short].includes(word),
  );
  if (found) return found;
  const names = kindList.map(({ name }) => name);
  throw new UsageError(
    word === undefined
      ? `of what? There are ${names.join(', ')}`
      : `there is no kind ${word}.${didYouMean(word, names)} There are ${names.join(', ')}`,
  );
}
