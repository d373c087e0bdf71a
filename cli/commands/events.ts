import { parseArgs } from 'node:util';
import { realClock } from '../../shared/process/clock.ts';
import type { HistoryView } from '../../shared/view/shapes.ts';
import { type Command, type Io, UsageError } from '../command.ts';
import { kinds } from '../kinds.ts';
import { printable } from '../output/table.ts';
import { clock } from '../output/words.ts';
import { openSource, type Source, sourceFlags, sourceUsage } from '../source.ts';

const lookEveryMs = 1_000;

export const eventsCommand: Command = {
  summary: 'what happened to machines, the latest last',
  usage: `[MACHINE…] [--follow] [--limit 50] [--json]
  -f, --follow           go on, and print what happens
      --limit NUMBER     at most so many (default: 50)
      --json             a line of JSON each${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        follow: { type: 'boolean', short: 'f' },
        limit: { type: 'string', default: '50' },
        json: { type: 'boolean' },
        ...sourceFlags,
      },
    });
    const limit = Number(values.limit);
    if (!Number.isInteger(limit) || limit < 1)
      throw new UsageError(`--limit ${values.limit}: a whole number from 1 on is one`);
    const source = await openSource(values, io);
    try {
      const history = await eventsOf(source, positionals);
      const last = history.slice(-limit);
      print(last, values.json, io);
      if (!values.follow) {
        if (last.length === 0) io.stderr.write('nothing has happened yet\n');
        return 0;
      }
      let known = new Set(history.map((event) => JSON.stringify(event)));
      for (;;) {
        await realClock.sleep(lookEveryMs);
        const now = await eventsOf(source, positionals);
        print(
          now.filter((event) => !known.has(JSON.stringify(event))),
          values.json,
          io,
        );
        known = new Set(now.map((event) => JSON.stringify(event)));
      }
    } finally {
      await source.close();
    }
  },
};

async function eventsOf(source: Source, machines: readonly string[]): Promise<HistoryView[]> {
  const { path, shape } = kinds.events;
  const all = (await source.list(path)).map((raw) => shape.parse(raw));
  return all.filter(({ machine }) => machines.length === 0 || machines.includes(machine)).reverse();
}

function print(events: readonly HistoryView[], asJson: boolean | undefined, { stdout }: Io): void {
  for (const event of events) stdout.write(`${asJson ? JSON.stringify(event) : lineOf(event)}\n`);
}

const lineOf = ({ at, machine, event, from, to, by, why }: HistoryView): string =>
  printable(
    `${clock(at)}  ${machine}  ${event.replaceAll('-', ' ')}${from === to ? '' : `: ${from} → ${to}`}  by ${by}${why ? `  (${why})` : ''}`,
  );
