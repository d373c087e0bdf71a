import { printable } from './table.ts';
import { age, clock } from './words.ts';

type Line = readonly [label: string, value: string | number | undefined];

/** Labels and values; unknown values have no line. */
export function section(lines: readonly Line[]): string {
  const known = lines.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(...known.map(([label]) => label.length)) + 1;
  return known
    .map(([label, value]) => `${`${label}:`.padEnd(width)}  ${printable(String(value))}\n`)
    .join('');
}

/** When, and how long ago or how soon that is. */
export function time(at: number | undefined): string | undefined {
  if (at === undefined) return undefined;
  const now = Date.now();
  return `${clock(at)} UTC (${at > now ? `in ${age(now, at)}` : `${age(at, now)} ago`})`;
}
