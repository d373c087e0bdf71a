export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader must know to read it rightly, e.g. what was left out and why. */
  readonly notes: readonly string[];
}

export function printTable(name: string, { columns, rows, notes }: Table): void {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ');
  console.log([`\n${name}`, line(columns), ...rows.map(line), ...notes].join('\n'));
}
