import { parseArgs } from 'node:util';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { durationMs } from '../../shared/runtime/duration.ts';
import { type Command, type Io, storeUrl, UsageError } from '../command.ts';
import { follow } from '../follow.ts';
import { openWay, type Way, whoAsks } from '../operate.ts';

const verbs = ['on', 'off', 'status'] as const;

export const powerCommand: Command = {
  summary: 'power a machine on or off by hand, or say how it is',
  usage: `MACHINE on|off|status [--no-drain MACHINE] [--last] [--timeout 30m] [--store URL] [--url URL]
      --no-drain MACHINE  cut the power at once, whatever runs on it; its name again, to be sure
      --last              also if it is the last one that serves
      --timeout DURATION  how long to wait for the end (default: 30m); the operation goes on anyway
      --store URL         default: $BAMEL_STORE
      --url URL           of the host, when the store is embedded; default: $BAMEL_URL, then port 8080 here`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'no-drain': { type: 'string' },
        last: { type: 'boolean' },
        timeout: { type: 'string', default: '30m' },
        store: { type: 'string' },
        url: { type: 'string' },
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
    const longestMs = durationMs.parse(values.timeout);
    const way = await openWay({ store: storeUrl(values.store, io), url: values.url }, io);
    try {
      if (known === 'status') return await showStatus(way, machine, io);
      const asked = await way.ask(machine, {
        power: known,
        by: whoAsks(),
        ...(cut !== undefined && { drain: false }),
        ...(values.last && { last: true }),
      });
      if (!asked.ok) throw new Error(asked.why);
      if (!asked.operation) {
        io.stdout.write(`${asked.answer}\n`);
        return 0;
      }
      const end = await follow(way.inventory, { machine, operation: asked.operation, longestMs }, io);
      if (end === 'late')
        io.stderr.write(`${machine}: still under way after ${values.timeout}; it goes on\n`);
      return end === 'done' ? 0 : 1;
    } finally {
      await way.close();
    }
  },
};

async function showStatus({ inventory }: Way, machine: string, { stdout }: Io): Promise<number> {
  const record = await inventory.machine(machine);
  if (!record) throw new Error(`there is no machine called ${machine}`);
  const width = 8;
  for (const [name, value] of linesOf(record))
    if (value !== undefined && value !== '') stdout.write(`${name.padEnd(width)}  ${value}\n`);
  return 0;
}

function linesOf({ spec, status, metrics }: MachineRecord): [string, string | undefined][] {
  const time = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());
  const { lastError, retryAt } = status;
  const power = status.powerInferred ? `${status.powerState} (as its node shows)` : status.powerState;
  const node = status.kubernetesNode && `${status.kubernetesNode}${status.nodeReady ? '' : ', not Ready'}`;
  return [
    ['machine', `${spec.name} (${spec.powerInterface}, pool ${spec.pool})`],
    ['state', `${status.state} since ${time(status.stateSince)}`],
    ['power', status.bmcReachable === false ? `${power}; its BMC does not answer` : power],
    ['node', node],
    ['doing', status.operation && `operation ${status.operation}`],
    ['problem', lastError?.message ?? status.refused?.message],
    ['again at', lastError ? time(retryAt) : undefined],
    ['hardware', metrics.health && [metrics.health, ...(metrics.problems ?? [])].join('; ')],
    ['watts', metrics.watts?.toString()],
    [
      'proven',
      status.provenAt === undefined ? `not yet: bamel test-power ${spec.name}` : time(status.provenAt),
    ],
  ];
}
