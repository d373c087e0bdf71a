import { parseArgs } from 'node:util';
import { didYouMean } from '../schema/did-you-mean.ts';

export interface FlagRow {
  readonly env: string;
  /** Absent for settings that people do not set. */
  readonly flag?: string;
  /** Placeholder of the value in the help; a setting without one is a switch. */
  readonly value?: string;
  readonly help: string;
}

/** A mistake in the settings, not a bug. The message says what to write instead. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** The given values by flag; a switch is `true` by default. */
export function readFlags(args: readonly string[], rows: readonly FlagRow[]): Map<string, string> {
  const known = new Map<string, 'string' | 'boolean'>([['help', 'boolean']]);
  for (const { flag, value } of rows) if (flag) known.set(flag, value ? 'string' : 'boolean');
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries([...known].map(([flag, type]) => [flag, { type }])),
    strict: false,
    tokens: true,
  });
  const flags = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === 'positional')
      throw new SettingsError(
        `${token.value}: not understood here. Write settings as --name value; see --help`,
      );
    if (token.kind !== 'option') continue;
    const type = known.get(token.name);
    if (!type)
      throw new SettingsError(
        `${token.rawName}: unknown flag.${didYouMean(token.name, known.keys())} See --help`,
      );
    if (type === 'string' && !token.value)
      throw new SettingsError(`${token.rawName}: needs a value. See --help`);
    flags.set(token.name, token.value ?? 'true');
  }
  return flags;
}

export function helpText(rows: readonly FlagRow[]): string {
  const columns = rows
    .filter(({ flag }) => flag !== undefined)
    .map(({ flag, value, env, help }) => [`--${flag}${value ? ` ${value}` : ''}`, env, help]);
  const width = (column: number) => Math.max(...columns.map((row) => row[column]?.length ?? 0));
  const lines = columns.map(
    ([flag = '', env = '', help = '']) => `  ${flag.padEnd(width(0))}  ${env.padEnd(width(1))}  ${help}`,
  );
  return ['Settings, as a flag or from the environment (the flag wins):', ...lines, ''].join('\n');
}
