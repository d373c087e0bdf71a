import { parseArgs } from 'node:util';
import { realClock } from '../../shared/process/clock.ts';
import { formatDuration } from '../../shared/schema/duration.ts';
import { type MachineDetail, MachineDetailShape } from '../../shared/view/shapes.ts';
import { act } from '../act.ts';
import { actions } from '../actions.ts';
import { type Command, type Io, UsageError } from '../command.ts';
import { durationOf } from '../duration-flag.ts';
import { kinds } from '../kinds.ts';
import { whoAsks } from '../operate.ts';
import { openSource, type SourceOptions, sourceFlags, sourceUsage } from '../source.ts';

export const testPowerCommand: Command = {
  summary: 'prove that a machine comes back: off, on, Ready, then as it was',
  usage: `MACHINE [--timeout 30m]
      --timeout DURATION how long each step may take (default: 30m)${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { timeout: { type: 'string', default: '30m' }, ...sourceFlags },
    });
    const [machine, ...more] = positionals;
    if (!machine || more.length > 0) throw new UsageError('which machine?');
    const longestMs = durationOf('--timeout', values.timeout);
    const source = await openSource(values, io);
    const read = async (): Promise<MachineDetail> => {
      const found = await source.one(kinds.machines.path, machine);
      if (found === undefined) throw new Error(`there is no machine called ${machine}`);
      return MachineDetailShape.parse(found);
    };
    try {
      return await cycle({ machine, options: values, longestMs, read, io });
    } finally {
      await source.close();
    }
  },
};

interface Trial {
  readonly machine: string;
  readonly options: SourceOptions;
  readonly longestMs: number;
  readonly read: () => Promise<MachineDetail>;
  readonly io: Io;
}

async function cycle(trial: Trial): Promise<number> {
  const { machine, read, io } = trial;
  const begun = Date.now();
  for (const power of planFor(await read())) {
    const since = Date.now();
    if (!(await step(trial, power))) return 1;
    const what = power === 'on' ? 'on and Ready' : 'off';
    io.stdout.write(`${machine} is ${what} after ${formatDuration(tenths(Date.now() - since))}\n`);
  }
  const { boot } = await read();
  if ((boot.provenAt ?? 0) < begun)
    throw new Error('it came back, but that was not recorded: see the log of the host');
  io.stdout.write(
    `${machine} is proven: off, on and Ready in ${formatDuration(tenths(Date.now() - begun))}\n`,
  );
  return 0;
}

const tenths = (ms: number): number => Math.round(ms / 100) * 100;

/** Restores the initial power state. A serving machine must not be needed: a test must not move pods. */
function planFor({ name, operation, capacity, idleSince, power, state }: MachineDetail): ('on' | 'off')[] {
  if (operation) throw new Error(`operation ${operation} is under way: wait for its end`);
  if (capacity === 'serving') {
    if (idleSince === undefined)
      throw new Error(`pods need ${name}: test it when it is idle, or drain it first`);
    return ['off', 'on'];
  }
  if (capacity === 'none' && power.state === 'off') return ['on', 'off'];
  throw new Error(`${name} is ${state}, its power ${power.state}: it must be off, or idle`);
}

async function step({ machine, options, longestMs, read, io }: Trial, power: 'on' | 'off'): Promise<boolean> {
  // The last one may go: it comes back at once.
  const deed = actions.power(power, { last: true });
  const by = `test-power by ${whoAsks()}`;
  if ((await act({ machine, deed, options, by, longestMs }, io)) !== 'done') return false;
  // Somebody else was quicker, perhaps: what counts is where it gets to.
  const wanted = power === 'on' ? 'serving' : 'none';
  for (const until = Date.now() + longestMs; Date.now() < until; await realClock.sleep(500)) {
    const { capacity, operation } = await read();
    if (capacity === wanted && !operation) return true;
  }
  return false;
}
