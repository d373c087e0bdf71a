import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { checkConfig } from '../../shared/adapters/files/config-file.ts';
import { machineProblem } from '../../shared/drivers/check-options.ts';
import { ConfigError } from '../../shared/schema/config-file.ts';
import { hasManifests, parseManifests } from '../../shared/schema/manifest.ts';
import { type Command, UsageError } from '../command.ts';

/** As of a start with such a file. */
const mistake = 2;

export const validateCommand: Command = {
  summary:
    'check files with pools and machines: the YAML file, custom resources, a KubeNodeSmith configuration',
  usage: `FILE...
  every mistake is reported with its line, and the exit code is 2 if there is any`,
  async run(args, { stdout, stderr }) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    if (positionals.length === 0) throw new UsageError('which file? Give at least one');
    let code = 0;
    for (const file of positionals)
      try {
        stdout.write(`${file}: ${await check(file)}\n`);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        stderr.write(`${error.message}\n`);
        code = mistake;
      }
    return code;
  },
};

async function check(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new ConfigError(`${file}: cannot be read (${error.message})`);
  });
  if (hasManifests(text)) {
    const manifests = parseManifests(text, file);
    const machines = manifests.filter(({ kind }) => kind === 'node');
    await checkConfig(
      JSON.stringify({ ...asConfig(manifests), machines: machines.map(named) }),
      file,
      machineProblem,
    );
    return `ok, ${manifests.length} resources`;
  }
  const { pools = [], machines = [] } = await checkConfig(text, file, machineProblem);
  return `ok, ${pools.length} pools and ${machines.length} machines`;
}

const named = ({ name, spec }: { name: string; spec: object }): object => ({ ...spec, name });

/** Pools that others define may be meant: only what a file says of itself is checked. */
function asConfig(
  manifests: readonly { kind: string; name: string; spec: Readonly<Record<string, unknown>> }[],
): object {
  const pools = new Set([
    ...manifests.filter(({ kind }) => kind === 'pool').map(({ name }) => name),
    ...manifests.filter(({ kind }) => kind === 'node').map(({ spec }) => String(spec.pool)),
  ]);
  return { schemaVersion: 'v1alpha1', pools: [...pools].map((name) => ({ name })) };
}
