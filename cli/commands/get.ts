import { parseArgs } from 'node:util';
import { realClock } from '../../shared/process/clock.ts';
import { didYouMean } from '../../shared/schema/did-you-mean.ts';
import type { Command, Io } from '../command.ts';
import { type AnyKind, kindList, kindOf } from '../kinds.ts';
import { documentOf, type Output, outputFlag, outputOf, outputUsage } from '../output/format.ts';
import { hasColours, tableOf } from '../output/table.ts';
import { openSource, type Source, sourceFlags, sourceUsage } from '../source.ts';

const lookEveryMs = 1_000;

export const getCommand: Command = {
  summary: `list ${kindList.map(({ name }) => name).join(', ')}`,
  usage: `KIND [NAME…] [-o FORMAT] [-w]
  KIND is one of ${kindList.map(({ name, one, short }) => `${name} (${[one, ...short].join(', ')})`).join(', ')}${outputUsage}
  -w, --watch            go on, and print what changes${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...outputFlag, watch: { type: 'boolean', short: 'w' }, ...sourceFlags },
    });
    const [word, ...names] = positionals;
    const kind = kindOf(word);
    const output = outputOf(values.output);
    const source = await openSource(values, io);
    try {
      const items = chosen(kind, await itemsOf(source, kind), names);
      if (values.watch) return await follow(source, kind, names, items, output, io);
      io.stdout.write(await rendered(kind, items, output, io, names.length === 1));
      if (items.length === 0 && (output === 'table' || output === 'wide'))
        io.stderr.write(`there are no ${kind.name}\n`);
      return 0;
    } finally {
      await source.close();
    }
  },
};

/** As they came, and as their kind knows them: other programs are given all that the host said. */
export interface Item {
  readonly raw: unknown;
  readonly item: never;
  readonly name: string;
}

export async function itemsOf(source: Source, { path, shape, nameOf }: AnyKind): Promise<Item[]> {
  return (await source.list(path)).map((raw) => {
    const item = shape.parse(raw);
    return { raw, item, name: nameOf(item) };
  });
}

/** Those that were named; all of them when none was. */
function chosen({ one }: AnyKind, items: readonly Item[], names: readonly string[]): readonly Item[] {
  if (names.length === 0) return items;
  const missing = names.find((wanted) => !items.some(({ name }) => name === wanted));
  if (missing !== undefined)
    throw new Error(
      `there is no ${one} ${missing}.${didYouMean(missing, [...new Set(items.map(({ name }) => name))])}`,
    );
  return items.filter(({ name }) => names.includes(name));
}

const tableFor = ({ columns }: AnyKind, output: Output, io: Io) =>
  tableOf(columns, { wide: output === 'wide', colours: hasColours(io) });

async function rendered(
  kind: AnyKind,
  items: readonly Item[],
  output: Output,
  io: Io,
  single: boolean,
): Promise<string> {
  const [first] = items;
  switch (output) {
    case 'name':
      return items.map(({ name }) => `${kind.one}/${name}\n`).join('');
    case 'json':
    case 'yaml':
      return documentOf(single && first ? first.raw : { items: items.map(({ raw }) => raw) }, output);
    default:
      if (!first) return '';
      return tableFor(kind, output, io).head(
        items.map(({ item }) => item),
        Date.now(),
      );
  }
}

/** Polls and prints new and changed objects until interrupted. */
async function follow(
  source: Source,
  kind: AnyKind,
  names: readonly string[],
  first: readonly Item[],
  output: Output,
  io: Io,
): Promise<number> {
  const table = tableFor(kind, output, io);
  const print = async (items: readonly Item[], isFirst: boolean): Promise<void> => {
    if (output === 'table' || output === 'wide') {
      const shown = items.map(({ item }) => item);
      io.stdout.write(isFirst ? table.head(shown, Date.now()) : table.rows(shown, Date.now()));
    } else if (output === 'json') {
      for (const { raw } of items) io.stdout.write(`${JSON.stringify(raw)}\n`);
    } else if (output === 'yaml') {
      for (const { raw } of items) io.stdout.write(`---\n${await documentOf(raw, output)}`);
    } else io.stdout.write(await rendered(kind, items, output, io, false));
  };
  const textOf = ({ raw }: Item): string => JSON.stringify(raw);
  await print(first, true);
  let known = new Set(first.map(textOf));
  for (;;) {
    await realClock.sleep(lookEveryMs);
    const items = (await itemsOf(source, kind)).filter(
      ({ name }) => names.length === 0 || names.includes(name),
    );
    // Lists that are newest first are followed as they grow.
    const news = items.filter((item) => !known.has(textOf(item)));
    if (news.length > 0) await print(news, false);
    known = new Set(items.map(textOf));
  }
}
