import { parseCsv } from '../../shared/schema/csv.ts';

export interface DemandSample {
  readonly at: number;
  readonly active: number;
  readonly total?: number | undefined;
}

/** Says which line, which field and what to write instead. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
}

const names = {
  time: ['time', 'timestamp', 'date'],
  active: ['active', 'needed', 'value'],
  total: ['total', 'machines'],
} as const;

/** Rows of `time,active[,total]`: how many machines were in use, and how many there were. Sorted by time. */
export function parseDemand(text: string): DemandSample[] {
  const [head, ...rows] = parseCsv(text);
  if (!head) throw new HistoryError('the file is empty: it needs a header time,active[,total] and rows');
  const titles = head.cells.map((cell) => cell.trim().toLowerCase());
  const column = (field: keyof typeof names): number =>
    titles.findIndex((title) => (names[field] as readonly string[]).includes(title));
  const [time, active, total] = [column('time'), column('active'), column('total')];
  if (time < 0 || active < 0)
    throw new HistoryError(
      `line 1: there is no column ${time < 0 ? 'time' : 'active'} in ${titles.join(',')}; the header is time,active[,total]`,
    );
  const samples = rows.map(({ cells, line }): DemandSample => {
    const at = parseTime(cells[time] ?? '', line);
    const needed = countOf(cells[active] ?? '', 'active', line);
    const of = total < 0 || cells[total] === undefined ? undefined : countOf(cells[total], 'total', line);
    return { at, active: needed, ...(of !== undefined && { total: of }) };
  });
  if (samples.length < 2) throw new HistoryError('the file needs at least two rows');
  return samples.sort((a, b) => a.at - b.at);
}

function countOf(text: string, field: string, line: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new HistoryError(`line ${line}: ${field} is ${JSON.stringify(text)}: write a number of machines`);
  return Math.ceil(value);
}

/** ISO 8601 or the same with a blank, UTC unless it says otherwise; or seconds or milliseconds since 1970. */
export function parseTime(text: string, line?: number): number {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const value = Number(trimmed);
    // Seconds reach this in the year 5138.
    return value < 1e11 ? Math.round(value * 1_000) : Math.round(value);
  }
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/.exec(
    trimmed,
  );
  const at = iso ? Date.parse(`${iso[1]}T${iso[2] ?? '00:00:00'}${iso[3] ?? 'Z'}`) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new HistoryError(
    `${line === undefined ? '' : `line ${line}: `}time is ${JSON.stringify(text)}: write 2024-03-01 08:00:00, 2024-03-01T08:00:00Z or seconds since 1970`,
  );
}
