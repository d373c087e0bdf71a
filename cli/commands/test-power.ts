import { parseArgs } from 'node:util';
import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import { capacityOf } from '../../shared/core/lifecycle.ts';
import { realClock } from '../../shared/runtime/clock.ts';
import { durationMs, formatDuration } from '../../shared/runtime/duration.ts';
import { type Command, type Io, storeUrl, UsageError } from '../command.ts';
import { follow } from '../follow.ts';
import { openWay, type Way, whoAsks } from '../operate.ts';

export const testPowerCommand: Command = {
  summary: 'prove that a machine comes back: off, on, Ready, then as it was',
  usage: `MACHINE [--timeout 30m] [--store URL] [--url URL]
      --timeout DURATION  how long each step may take (default: 30m)
      --store URL         default: $BAMEL_STORE
      --url URL           of the host, when the store is embedded; default: $BAMEL_URL, then port 8080 here`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        timeout: { type: 'string', default: '30m' },
        store: { type: 'string' },
        url: { type: 'string' },
      },
    });
    const [machine, ...more] = positionals;
    if (!machine || more.length > 0) throw new UsageError('which machine?');
    const longestMs = durationMs.parse(values.timeout);
    const way = await openWay({ store: storeUrl(values.store, io), url: values.url }, io);
    try {
      return await cycle(way, machine, longestMs, io);
    } finally {
      await way.close();
    }
  },
};

async function cycle(way: Way, machine: string, longestMs: number, io: Io): Promise<number> {
  const record = await way.inventory.machine(machine);
  if (!record) throw new Error(`there is no machine called ${machine}`);
  const begun = Date.now();
  const wishes = planFor(record);
  for (const power of wishes) {
    const since = Date.now();
    if (!(await step(way, machine, power, longestMs, io))) return 1;
    const what = power === 'on' ? 'on and Ready' : 'off';
    io.stdout.write(`${machine} is ${what} after ${formatDuration(tenths(Date.now() - since))}\n`);
  }
  const { status } = (await way.inventory.machine(machine)) ?? record;
  if ((status.provenAt ?? 0) < begun)
    throw new Error('it came back, but nobody wrote that down: look at the log of the host');
  io.stdout.write(
    `${machine} is proven: off, on and Ready in ${formatDuration(tenths(Date.now() - begun))}\n`,
  );
  return 0;
}

const tenths = (ms: number): number => Math.round(ms / 100) * 100;

/** Ends as it was. One that serves must not be needed: a test is no reason to move anybody's pods. */
function planFor(record: MachineRecord): ('on' | 'off')[] {
  const { status, metrics, spec } = record;
  if (status.operation) throw new Error(`operation ${status.operation} is under way: wait for its end`);
  const capacity = capacityOf(record);
  if (capacity === 'serving') {
    if (metrics.idleSince === undefined)
      throw new Error(`pods need ${spec.name}: test it when it is idle, or drain it first`);
    return ['off', 'on'];
  }
  if (capacity === 'none' && status.powerState === 'off') return ['on', 'off'];
  throw new Error(`${spec.name} is ${status.state}, its power ${status.powerState}: it must be off, or idle`);
}

async function step(
  way: Way,
  machine: string,
  power: 'on' | 'off',
  longestMs: number,
  io: Io,
): Promise<boolean> {
  // The last one may go: it comes back at once.
  const asked = await way.ask(machine, { power, by: `test-power by ${whoAsks()}`, last: true });
  if (!asked.ok) throw new Error(asked.why);
  if (asked.operation)
    return (await follow(way.inventory, { machine, operation: asked.operation, longestMs }, io)) === 'done';
  // Somebody else was quicker: what counts is where it gets to.
  const wanted = power === 'on' ? 'serving' : 'none';
  for (const until = Date.now() + longestMs; Date.now() < until; await realClock.sleep(500)) {
    const record = await way.inventory.machine(machine);
    if (record && capacityOf(record) === wanted && !record.status.operation) return true;
  }
  return false;
}
