import { parseArgs } from 'node:util';
import {
  DecisionShape,
  type DecisionView,
  type MachineDetail,
  MachineDetailShape,
  type PoolView,
} from '../../shared/view/shapes.ts';
import { type Command, type Io, UsageError } from '../command.ts';
import { kindOf, kinds } from '../kinds.ts';
import { documentOf, outputFlag, outputOf } from '../output/format.ts';
import { offerText } from '../output/offer.ts';
import { section, time } from '../output/section.ts';
import { type Column, hasColours, tableOf } from '../output/table.ts';
import { amounts, share } from '../output/words.ts';
import { openSource, type Source, sourceFlags, sourceUsage } from '../source.ts';

export const describeCommand: Command = {
  summary: 'all about one machine, pool, decision or offer',
  usage: `machine NAME | pool NAME | decision ID | offer ID [-o json|yaml]
  a decision is also called by its place: latest
  -o, --output FORMAT    json or yaml (default: for people)${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...outputFlag, ...sourceFlags },
    });
    const [word, name, ...more] = positionals;
    const { one } = kindOf(word);
    const view = Object.hasOwn(views, one) ? views[one as keyof typeof views] : undefined;
    if (!view)
      throw new UsageError(`a ${one} is not described; a machine, a pool, a decision or an offer is`);
    if (!name || more.length > 0) throw new UsageError(`which ${one}? Name one`);
    const output = outputOf(values.output);
    const source = await openSource(values, io);
    try {
      const found = await view.find(source, name);
      if (found === undefined) throw new Error(`there is no ${one} ${name}. bamel get ${one}s lists them`);
      if (output === 'json' || output === 'yaml') io.stdout.write(await documentOf(found, output));
      else if (output === 'name') io.stdout.write(`${one}/${name}\n`);
      else io.stdout.write(view.text(found, io));
      return 0;
    } finally {
      await source.close();
    }
  },
};

interface View {
  find(source: Source, name: string): Promise<unknown | undefined>;
  text(found: unknown, io: Io): string;
}

const views = {
  machine: {
    find: (source, name) => source.one(kinds.machines.path, name),
    text: (found, io) => machineText(MachineDetailShape.parse(found), io),
  },
  pool: {
    async find(source, name) {
      const all = await source.list(kinds.pools.path);
      return all.find((raw) => kinds.pools.shape.parse(raw).name === name);
    },
    text: (found) => poolText(kinds.pools.shape.parse(found)),
  },
  decision: {
    find: (source, name) => source.one(kinds.decisions.path, name),
    text: (found, io) => decisionText(DecisionShape.parse(found), io),
  },
  offer: {
    find: (source, name) => source.one(kinds.offers.path, name),
    text: (found) => offerText(kinds.offers.shape.parse(found)),
  },
} satisfies Record<string, View>;

function list<Item>(title: string, items: readonly Item[], columns: readonly Column<Item>[], io: Io): string {
  if (items.length === 0) return '';
  const text = tableOf(columns, { wide: true, colours: hasColours(io) }).head(items, Date.now());
  return `\n${title}:\n${text.replaceAll(/^(?=.)/gm, '  ')}`;
}

function machineText(machine: MachineDetail, io: Io): string {
  const { node, power, bmc, watts, health, boot, drain, error, resources, requested } = machine;
  const silent = bmc.reachable === false ? '; its BMC does not answer' : '';
  const cpu = share(requested, resources, 'cpu');
  return [
    section([
      ['Name', machine.name],
      ['Pool', machine.pool],
      ['State', `${machine.state} (${machine.means})`],
      ['Since', time(machine.stateSince)],
      ['Waits for', machine.waitsFor],
      ['Why', machine.why],
      ['Power', `${power.state}${power.inferred ? ' (as its node shows)' : ''}${silent}`],
      ['Refused', bmc.refused && `${bmc.refused.message}; tried again ${time(bmc.refused.until)}`],
      ['Maintenance', machine.maintenance ? 'in the hands of a person' : undefined],
      [
        'Node',
        node.name &&
          `${node.name}, ${node.ready ? 'Ready' : 'not Ready'}${node.problem ? `: ${node.problem}` : ''}`,
      ],
      ['Pods', node.pods],
      ['Size', amounts(resources)],
      ['Asked for', requested && `${amounts(requested)}${cpu ? ` (${cpu} of its cpu)` : ''}`],
      ['Watts', watts.now ?? (watts.idle === undefined ? undefined : `${watts.idle} to ${watts.max}`)],
      ['Hardware', health.status === 'unknown' ? undefined : [health.status, ...health.problems].join('; ')],
      ['Celsius', health.celsius],
      [
        'Draining',
        drain &&
          `${drain.podsTotal - drain.podsLeft} of ${drain.podsTotal} pods gone${drain.waitingFor ? `; waits for ${drain.waitingFor}` : ''}`,
      ],
      ['Operation', machine.operation],
      ['Problem', error && `${error.message} (${error.code}, attempt ${machine.attempts})`],
      ['Tried again', time(machine.retryAt)],
      ['Boots in', boot.learnedMs === undefined ? undefined : `${Math.round(boot.learnedMs / 1_000)} s`],
      ['Proven', time(boot.provenAt)],
      ['Driver', machine.powerInterface],
      ['BMC', machine.mgmtAddress],
      ['MAC', machine.macAddress],
      ['System UUID', machine.systemUUID],
      ['Rack', machine.rack],
      ['Zone', machine.zone],
      ['Circuit', machine.powerCircuit],
      [
        'Labels',
        Object.entries(machine.labels)
          .map(([key, value]) => `${key}=${value}`)
          .join(', '),
      ],
      [
        'Taints',
        machine.taints
          .map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`)
          .join(', '),
      ],
    ]),
    list('Operations', machine.operations, kinds.operations.columns, io),
    list(
      'Events',
      machine.history,
      kinds.events.columns.filter(({ title }) => title !== 'MACHINE'),
      io,
    ),
  ].join('');
}

const poolText = ({ limits, health, states, ...pool }: PoolView): string =>
  section([
    ['Name', pool.name],
    ['Decided by', pool.managedBy],
    ['Health', `${health.status}${health.why ? `: ${health.why}` : ''}`],
    [
      'Nodes',
      `${pool.ready} ready, ${pool.pending} coming, ${pool.leaving} leaving, ${pool.machines} machines`,
    ],
    [
      'States',
      Object.entries(states)
        .map(([state, count]) => `${count} ${state}`)
        .join(', '),
    ],
    ['At least', limits.minNodes],
    ['At most', limits.maxNodes || 'any number of nodes'],
    ['cpu at most', limits.cpuCores || undefined],
    ['MiB at most', limits.memoryMiB || undefined],
    ['Per hour at most', limits.hourlyCost || undefined],
    ['Serves', amounts(pool.resources)],
    [
      'Asked for',
      `${amounts(pool.requested)}${share(pool.requested, pool.resources, 'cpu') ? ` (${share(pool.requested, pool.resources, 'cpu')} of its cpu)` : ''}`,
    ],
    ['Watts', `${Math.round(pool.watts.now)} of ${pool.watts.max}`],
  ]);

const decisionText = (decision: DecisionView, io: Io): string =>
  [
    section([
      ['Id', decision.id],
      ['At', time(decision.at)],
      ['Summary', decision.summary],
      ['Power on', decision.powerOn.join(', ')],
      ['Drain', decision.drain.join(', ')],
      ['Wanted', decision.wants.join('; ')],
      ['Offers', decision.offers.map(({ offer, verdict, why }) => `${offer} ${verdict}: ${why}`).join('; ')],
      ['Limits', decision.limits.join('; ')],
      ['Notes', decision.notes.join('; ')],
    ]),
    list(
      'Demand',
      decision.demand,
      [
        { title: 'PODS', of: ({ pods }) => pods },
        { title: 'ASK FOR', of: ({ requests }) => amounts(requests) },
        { title: 'ROOM', of: ({ room }) => room },
        { title: 'SERVED', of: ({ served }) => served },
        { title: 'FOR ONE', of: ({ example }) => example },
      ],
      io,
    ),
    list(
      'Machines',
      decision.candidates,
      [
        {
          title: 'MACHINE',
          of: ({ machine, alike }) => (alike ? `${machine} and ${alike.count} like it` : machine),
        },
        { title: 'VERDICT', of: ({ verdict }) => verdict },
        { title: 'WHY', of: ({ why }) => why },
      ],
      io,
    ),
    list(
      'Without a machine',
      decision.unmetPods,
      [
        { title: 'POD', of: ({ pod }) => pod },
        { title: 'PODS', of: ({ pods }) => pods },
        { title: 'WHY', of: ({ why }) => why },
      ],
      io,
    ),
  ].join('');
