import packageJson from '../../package.json' with { type: 'json' };
import type { Command } from '../command.ts';

export const versionCommand: Command = {
  summary: 'print the version',
  usage: '',
  async run(_args, { stdout }) {
    stdout.write(`bamel ${packageJson.version} (node ${process.versions.node})\n`);
    return 0;
  },
};
