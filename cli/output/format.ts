import { didYouMean } from '../../shared/schema/did-you-mean.ts';
import { UsageError } from '../command.ts';

export const outputs = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type Output = (typeof outputs)[number];

export const outputFlag = { output: { type: 'string', short: 'o', default: 'table' } } as const;
export const outputUsage = `
  -o, --output FORMAT    table, wide, json, yaml or name (default: table)`;

export function outputOf(text: string): Output {
  const known = outputs.find((one) => one === text);
  if (known) return known;
  throw new UsageError(
    `there is no output ${text}.${didYouMean(text, outputs)} There are ${outputs.join(', ')}`,
  );
}

/** As a document that other programs read. */
export async function documentOf(value: unknown, output: 'json' | 'yaml'): Promise<string> {
  if (output === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  return (await import('./yaml-text.ts')).yamlText(value);
}
