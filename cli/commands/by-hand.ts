import { parseArgs } from 'node:util';
import { actAndExit } from '../act.ts';
import { type Action, actions } from '../actions.ts';
import { type Command, UsageError } from '../command.ts';
import { durationOf } from '../duration-flag.ts';
import { sourceFlags, sourceUsage } from '../source.ts';

/** The one machine that is meant. */
function onlyOne(positionals: readonly string[], example: string): string {
  const [machine, ...more] = positionals;
  if (machine && more.length === 0) return machine;
  throw new UsageError(`${more.length > 0 ? 'one machine at a time' : 'which machine?'} ${example}`);
}

export const drainCommand: Command = {
  summary: "empty a machine's node, budgets held, and power it off",
  usage: `MACHINE [--last] [--timeout 30m] [--no-wait]
      --last             also if it is the last one that serves
      --timeout DURATION how long to wait for the end (default: 30m); the drain goes on anyway
      --no-wait          begin it, and no more${sourceUsage}
  bamel uncordon MACHINE calls it off. Without powering off: bamel maintenance MACHINE on, then kubectl drain.`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        last: { type: 'boolean', default: false },
        timeout: { type: 'string', default: '30m' },
        'no-wait': { type: 'boolean' },
        ...sourceFlags,
      },
    });
    const longestMs = durationOf('--timeout', values.timeout);
    const machine = onlyOne(positionals, 'bamel drain MACHINE');
    return actAndExit(
      {
        machine,
        deed: actions.drain(values.last),
        options: values,
        ...(!values['no-wait'] && { longestMs }),
      },
      io,
    );
  },
};

/** A command that needs to know the machine, and no more. */
const onMachine = (name: string, summary: string, deed: () => Action): Command => ({
  summary,
  usage: `MACHINE${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: sourceFlags,
    });
    const machine = onlyOne(positionals, `bamel ${name} MACHINE`);
    return actAndExit({ machine, deed: deed(), options: values }, io);
  },
});

export const uncordonCommand = onMachine('uncordon', 'abort a drain, or uncordon a node', actions.uncordon);

export const retryCommand = onMachine(
  'retry',
  'end the quarantine of a machine whose trouble was dealt with',
  actions.retry,
);

export const maintenanceCommand: Command = {
  summary: 'start or end the maintenance of a machine, in which it is not touched',
  usage: `MACHINE on|off${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: sourceFlags,
    });
    const [machine, wish, ...more] = positionals;
    if (!machine || (wish !== 'on' && wish !== 'off') || more.length > 0)
      throw new UsageError('which machine, and on or off? bamel maintenance MACHINE on');
    return actAndExit({ machine, deed: actions.maintenance(wish === 'on'), options: values }, io);
  },
};
