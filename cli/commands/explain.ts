import { parseArgs } from 'node:util';
import { ExplanationShape } from '../../shared/view/shapes.ts';
import { type Command, UsageError } from '../command.ts';
import { printable } from '../output/table.ts';
import { openSource, sourceFlags, sourceUsage } from '../source.ts';

/** What can be explained, and what is added when it is not there. */
const kinds: Readonly<Record<string, string>> = {
  pod: '',
  machine: '',
  decision: ': only the last ones are kept',
};

export const explainCommand: Command = {
  summary: 'say why a pod waits, why a machine is on or off, or what a decision saw',
  usage: `pod NAMESPACE/NAME | machine NAME | decision ID|latest${sourceUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: sourceFlags,
    });
    const [what = '', given, ...more] = positionals;
    if (!given || more.length > 0 || !Object.hasOwn(kinds, what))
      throw new UsageError('explain what? pod NAMESPACE/NAME, machine NAME or decision ID');
    const name = what === 'pod' && !given.includes('/') ? `default/${given}` : given;
    const source = await openSource(values, io);
    try {
      const found = await source.one(`/api/explain/${what}`, name);
      const lines = found
        ? ExplanationShape.parse(found).lines
        : [`There is no ${what} ${name}${kinds[what]}.`];
      io.stdout.write(`${lines.map(printable).join('\n')}\n`);
      return found ? 0 : 1;
    } finally {
      await source.close();
    }
  },
};
