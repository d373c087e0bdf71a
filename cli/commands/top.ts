import { parseArgs } from 'node:util';
import { type MachineView, type PoolView, PressureShape } from '../../shared/view/shapes.ts';
import { type Command, UsageError } from '../command.ts';
import { type AnyKind, kindOf, kinds, machineTone, poolTone } from '../kinds.ts';
import { documentOf, outputFlag, outputOf, outputUsage } from '../output/format.ts';
import { type Column, hasColours, tableOf } from '../output/table.ts';
import { share } from '../output/words.ts';
import { openSource, type Source, sourceFlags, sourceUsage } from '../source.ts';
import { itemsOf } from './get.ts';

export const topCommand: Command = {
  summary: 'machines or pools by the watts they draw, with how much of them is used',
  usage: `[machines|pools] [-o FORMAT]${outputUsage}${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...outputFlag, ...sourceFlags },
    });
    const [word = 'machines', ...more] = positionals;
    const kind = kindOf(word);
    const columns = Object.hasOwn(usedBy, kind.name) ? usedBy[kind.name as keyof typeof usedBy] : undefined;
    if (!columns || more.length > 0) throw new UsageError('of what? machines or pools');
    const output = outputOf(values.output);
    const source = await openSource(values, io);
    try {
      const items = (await itemsOf(source, kind)).toSorted((a, b) => wattsOf(b.item) - wattsOf(a.item));
      if (output === 'json' || output === 'yaml')
        io.stdout.write(await documentOf({ items: items.map(({ raw }) => raw) }, output));
      else if (output === 'name') io.stdout.write(items.map(({ name }) => `${kind.one}/${name}\n`).join(''));
      else {
        const pressed = kind.name === kinds.machines.name ? await pressureOf(source) : [];
        const table = tableOf<never>([...columns, ...pressed] as AnyKind['columns'], {
          wide: output === 'wide',
          colours: hasColours(io),
        });
        io.stdout.write(
          table.head(
            items.map(({ item }) => item),
            Date.now(),
          ),
        );
      }
      return 0;
    } finally {
      await source.close();
    }
  },
};

const wattsOf = ({ watts }: { readonly watts: { readonly now?: number | undefined } }): number =>
  watts.now ?? -1;

const ofMachines: readonly Column<MachineView>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'POOL', of: ({ pool }) => pool },
  { title: 'STATE', of: ({ state }) => state, tone: machineTone },
  { title: 'WATTS', of: ({ watts }) => watts.now },
  { title: 'OF', of: ({ watts }) => watts.max },
  { title: 'CPU', of: ({ requested, resources }) => share(requested, resources, 'cpu') },
  { title: 'MEMORY', of: ({ requested, resources }) => share(requested, resources, 'memory') },
  { title: 'PODS', of: ({ node }) => node.pods },
  { title: 'CELSIUS', of: ({ health }) => health.celsius },
  { title: 'HARDWARE', of: ({ health }) => health.status, wide: true },
];

const ofPools: readonly Column<PoolView>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'WATTS', of: ({ watts }) => Math.round(watts.now) },
  { title: 'OF', of: ({ watts }) => watts.max },
  { title: 'READY', of: ({ ready, machines }) => `${ready}/${machines}` },
  { title: 'CPU', of: ({ requested, resources }) => share(requested, resources, 'cpu') },
  { title: 'MEMORY', of: ({ requested, resources }) => share(requested, resources, 'memory') },
  { title: 'HEALTH', of: ({ health }) => health.status, tone: poolTone },
];

/** An additional column if any node has a sensor. */
async function pressureOf(source: Source): Promise<Column<MachineView>[]> {
  const readings = (await source.list('/api/pressure')).map((raw) => PressureShape.parse(raw));
  if (readings.length === 0) return [];
  const felt = (node: string | undefined): string =>
    readings
      .filter((reading) => reading.node === node)
      .map(({ category, level, sign }) => `${category} ${Math.round(level * 100)}% ${sign}`)
      .join(', ');
  return [{ title: 'PRESSURE', of: ({ node }) => felt(node.name) || undefined }];
}

const usedBy = { [kinds.machines.name]: ofMachines, [kinds.pools.name]: ofPools };
