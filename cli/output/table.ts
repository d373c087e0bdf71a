import type { Io } from '../command.ts';

/** The meaning of a cell; shown as a colour on a terminal. */
export type Tone = 'good' | 'busy' | 'bad';

export interface Column<Item> {
  readonly title: string;
  /** Undefined: not known, or not so. */
  readonly of: (item: Item, now: number) => string | number | undefined;
  /** Only with -o wide. */
  readonly wide?: boolean;
  readonly tone?: (item: Item) => Tone | undefined;
}

const gap = '   ';
const ansi: Readonly<Record<Tone, number>> = { good: 32, busy: 33, bad: 31 };

export const hasColours = ({ stdout, env }: Io): boolean =>
  stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';

/** What others wrote must not move the cursor. */
export const printable = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');

interface Cell {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

/** Rows of a table as they come: the columns stay where the first ones put them, unless a longer cell comes. */
export function tableOf<Item>(
  columns: readonly Column<Item>[],
  { wide = false, colours = false }: { readonly wide?: boolean; readonly colours?: boolean } = {},
): { head(items: readonly Item[], now: number): string; rows(items: readonly Item[], now: number): string } {
  const shown = columns.filter((column) => wide || !column.wide);
  const widths = shown.map(({ title }) => title.length);
  const cellsOf = (item: Item, now: number): Cell[] =>
    shown.map(({ of, tone }) => ({ text: printable(String(of(item, now) ?? '–')), tone: tone?.(item) }));
  const line = (cells: readonly Cell[]): string =>
    cells
      .map(({ text, tone }, index) => {
        // The last one is not padded: its end is the end of the line.
        const padded = index === cells.length - 1 ? text : text.padEnd(widths[index] ?? 0);
        return colours && tone ? `\u001b[${ansi[tone]}m${padded}\u001b[0m` : padded;
      })
      .join(gap)
      .trimEnd();
  const rows = (items: readonly Item[], now: number): string => {
    const cells = items.map((item) => cellsOf(item, now));
    for (const row of cells)
      for (const [index, { text }] of row.entries())
        widths[index] = Math.max(widths[index] ?? 0, text.length);
    return cells.map((row) => `${line(row)}\n`).join('');
  };
  return {
    rows,
    head(items, now) {
      const body = rows(items, now);
      return `${line(shown.map(({ title }) => ({ text: title })))}\n${body}`;
    },
  };
}
