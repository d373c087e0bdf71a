import { parseArgs } from 'node:util';
import { explainDecision, explainMachine, explainPod } from '../../shared/core/explain.ts';
import { type Command, UsageError } from '../command.ts';
import { look, lookFlags, lookUsage } from '../look.ts';

export const explainCommand: Command = {
  summary: 'say why a pod waits, why a machine is on or off, or what a decision saw',
  usage: `pod NAMESPACE/NAME | machine NAME | decision ID${lookUsage}`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: lookFlags,
    });
    const [what, name, ...more] = positionals;
    if (!name || more.length > 0 || (what !== 'pod' && what !== 'machine' && what !== 'decision'))
      throw new UsageError('explain what? pod NAMESPACE/NAME, machine NAME or decision ID');
    const lines = await look(values, io, async (inventory, snapshot) => {
      if (what === 'decision') {
        const record = await inventory.decision(name);
        return record
          ? explainDecision(record)
          : [`There is no decision ${name}: only the last ones are kept.`];
      }
      const explain = what === 'pod' ? explainPod : explainMachine;
      return explain(
        await snapshot(),
        name.includes('/') || what === 'machine' ? name : `default/${name}`,
        Date.now(),
      );
    });
    io.stdout.write(`${lines.join('\n')}\n`);
    return lines[0]?.startsWith('There is no ') ? 1 : 0;
  },
};
