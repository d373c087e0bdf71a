export interface CsvRow {
  readonly cells: readonly string[];
  /** Where it begins. */
  readonly line: number;
}

/** RFC 4180: quotes around what needs them, and doubled within. */
export const formatCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('');

const quoted = (cell: string): string =>
  /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/** Lines may end in either way; empty ones are skipped; a quoted cell may go over several. */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let line = 1;
  let rowLine = 1;
  let rowStarts = 0;
  // A cell and what ends it; what is quoted may hold anything.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*)|([^,\r\n]*))(,|\r?\n|$)/y;
  const body = text.replace(/^\uFEFF/, '');
  while (cell.lastIndex < body.length || cells.length > 0) {
    const start = cell.lastIndex;
    const match = cell.exec(body);
    // The last alternative takes whatever is there, so this is only for the type.
    if (!match) break;
    const [whole, inQuotes, plain, odd = '', end] = match;
    cells.push(inQuotes === undefined ? (plain ?? odd) : inQuotes.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (cells.length > 1 || body.slice(rowStarts, start + whole.length).trim() !== '')
      rows.push({ cells, line: rowLine });
    cells = [];
    rowLine = line;
    rowStarts = cell.lastIndex;
    if (end === '') break;
  }
  return rows;
}
