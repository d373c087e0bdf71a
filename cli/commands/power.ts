import { parseArgs } from 'node:util';
import { type MachineDetail, MachineDetailShape } from '../../shared/view/shapes.ts';
import { actAndExit } from '../act.ts';
import { actions } from '../actions.ts';
import { type Command, type Io, UsageError } from '../command.ts';
import { durationOf } from '../duration-flag.ts';
import { kinds } from '../kinds.ts';
import { printable } from '../output/table.ts';
import { openSource, type SourceOptions, sourceFlags, sourceUsage } from '../source.ts';

const verbs = ['on', 'off', 'status'] as const;

export const powerCommand: Command = {
  summary: 'power a machine on or off by hand, or say how it is',
  usage: `MACHINE on|off|status [--no-drain MACHINE] [--last] [--timeout 30m]
      --no-drain MACHINE cut the power at once, whatever runs on it; its name again, to be sure
      --last             also if it is the last one that serves
      --timeout DURATION how long to wait for the end (default: 30m); the operation goes on anyway${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'no-drain': { type: 'string' },
        last: { type: 'boolean' },
        timeout: { type: 'string', default: '30m' },
        ...sourceFlags,
      },
    });
    const [machine, verb, ...more] = positionals;
    const known = verbs.find((one) => one === verb);
    if (!machine || !known || more.length > 0) throw new UsageError('which machine, and on, off or status?');
    const cut = values['no-drain'];
    if (cut !== undefined && (known !== 'off' || cut !== machine))
      throw new UsageError(
        `to cut the power whatever runs on it: bamel power ${machine} off --no-drain ${machine}`,
      );
    const longestMs = durationOf('--timeout', values.timeout);
    if (known === 'status') return showStatus(values, machine, io);
    const deed = actions.power(known, {
      ...(cut !== undefined && { drain: false }),
      ...(values.last && { last: true }),
    });
    return actAndExit({ machine, deed, options: values, longestMs }, io);
  },
};

async function showStatus(options: SourceOptions, machine: string, io: Io): Promise<number> {
  const source = await openSource(options, io);
  try {
    const found = await source.one(kinds.machines.path, machine);
    if (found === undefined) throw new Error(`there is no machine called ${machine}`);
    for (const [name, value] of linesOf(MachineDetailShape.parse(found)))
      if (value !== undefined && value !== '') io.stdout.write(`${name.padEnd(8)}  ${printable(value)}\n`);
    return 0;
  } finally {
    await source.close();
  }
}

const time = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());

function linesOf(machine: MachineDetail): [string, string | undefined][] {
  const { name, power, bmc, node, error, health, watts, boot } = machine;
  const state = power.inferred ? `${power.state} (as its node shows)` : power.state;
  return [
    ['machine', `${name} (${machine.powerInterface}, pool ${machine.pool})`],
    ['state', `${machine.state} since ${time(machine.stateSince)}`],
    ['power', bmc.reachable === false ? `${state}; its BMC does not answer` : state],
    ['refused', bmc.refused?.message],
    [
      'to do',
      bmc.refused &&
        `put the right ones where bmcCredentials of ${name} points: they are tried at once then, these again at ${time(bmc.refused.until)}`,
    ],
    ['node', node.name && `${node.name}${node.ready ? '' : ', not Ready'}`],
    ['doing', machine.operation && `operation ${machine.operation}`],
    ['problem', error?.message],
    ['again at', error ? time(machine.retryAt) : undefined],
    ['hardware', health.status === 'unknown' ? undefined : [health.status, ...health.problems].join('; ')],
    ['watts', watts.now?.toString()],
    ['proven', boot.provenAt === undefined ? `not yet: bamel test-power ${name}` : time(boot.provenAt)],
  ];
}
