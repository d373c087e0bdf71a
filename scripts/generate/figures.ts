import { readdirSync, readFileSync } from 'node:fs';
import type { Figures } from '../../bench/figures.ts';

const folder = new URL('../../bench/figures/', import.meta.url);

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const section = (file: string): string => {
  const { command, date, machine, load, tables } = JSON.parse(
    readFileSync(new URL(file, folder), 'utf8'),
  ) as Figures;
  return [
    `## ${file.replace('.json', '')}`,
    `\`${command}\`, ${date}; ${machine}; load average ${load} at the start.`,
    ...tables.flatMap(({ columns, rows, notes }) => [
      [row(columns), row(columns.map(() => '---')), ...rows.map(row)].join('\n'),
      ...notes,
    ]),
  ].join('\n\n');
};

/** docs/figures.md: what the benchmarks measured, from bench/figures. */
export const figuresPage = (): string => `<!-- Generated from bench/figures by npm run generate. -->

# Figures

Every measured figure of the documentation is on this page. Each section is one run of one benchmark, with its date, machine and command. A load average above 1 means that other programs used the machine: compare such figures with care. To measure your own machine, run the command; with \`--figures\` it also replaces the section's file in \`bench/figures\`, and \`npm run generate\` updates this page.

${readdirSync(folder).sort().map(section).join('\n\n')}
`;
