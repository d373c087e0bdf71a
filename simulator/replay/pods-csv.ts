import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { type CsvRow, parseCsv } from '../../shared/schema/csv.ts';
import type { ReplayPod } from './decisions.ts';
import { HistoryError, parseTime } from './demand-csv.ts';

const MiB = 2 ** 20;
const gpuMilli = 'example.com/gpu-milli';

/** One column of a file: its names, and what a number in it means. */
interface Column {
  readonly names: Readonly<Record<string, number>>;
  readonly resource: string;
}

/** cpu in millicores, memory in bytes, GPUs in thousandths: traces share them. */
const columns: readonly Column[] = [
  { names: { cpu: 1_000, cpu_milli: 1 }, resource: 'cpu' },
  { names: { memory: 1, memory_mib: MiB }, resource: 'memory' },
  { names: { gpu: 1_000, num_gpu: 1_000 }, resource: gpuMilli },
];

interface Table {
  readonly rows: readonly CsvRow[];
  /** The first of these columns that there is, or -1. */
  column(...names: readonly string[]): number;
}

function tableOf(text: string): Table {
  const [head, ...rows] = parseCsv(text);
  if (!head || rows.length === 0) throw new HistoryError('the file has no rows');
  const titles = head.cells.map((cell) => cell.trim().toLowerCase());
  return { rows, column: (...names) => titles.findIndex((title) => names.includes(title)) };
}

function amountsOf(table: Table, { cells, line }: CsvRow): Record<string, number> {
  const amounts: Record<string, number> = {};
  for (const { names, resource } of columns)
    for (const [name, unit] of Object.entries(names)) {
      const at = table.column(name);
      const text = at < 0 ? '' : (cells[at] ?? '').trim();
      if (text === '') continue;
      const value = Number(text);
      if (!Number.isFinite(value) || value < 0)
        throw new HistoryError(`line ${line}: ${name} is ${JSON.stringify(text)}: write a number`);
      if (value > 0) amounts[resource] = Math.round(value * unit);
    }
  return amounts;
}

/** `start,end,cpu,memory[,gpu]`, or the names of the openb trace; a pod without an end runs until the history's. */
export function parsePods(text: string): ReplayPod[] {
  const table = tableOf(text);
  const start = table.column('start', 'creation_time');
  const end = table.column('end', 'deletion_time');
  const name = table.column('name');
  const shares = table.column('gpu_milli');
  if (start < 0 || end < 0)
    throw new HistoryError(
      `line 1: there is no column ${start < 0 ? 'start' : 'end'}; the header is start,end,cpu,memory[,gpu]`,
    );
  const pods = table.rows.map((row, index): ReplayPod => {
    const requests = amountsOf(table, row);
    const share = shares < 0 ? 0 : Number(row.cells[shares] ?? 0);
    // Where a pod asks for a part of one GPU, that is what it takes.
    if (share > 0 && (requests[gpuMilli] ?? 0) <= 1_000) requests[gpuMilli] = share;
    const ends = (row.cells[end] ?? '').trim();
    return {
      name: name < 0 ? `pod-${index}` : (row.cells[name] ?? `pod-${index}`),
      start: parseTime(row.cells[start] ?? '', row.line),
      end: ends === '' ? Number.MAX_SAFE_INTEGER : parseTime(ends, row.line),
      requests,
    };
  });
  return pods.sort((a, b) => a.start - b.start);
}

/** `cpu,memory[,gpu][,name][,count]`, or the names of the openb trace. */
export function parseMachines(
  text: string,
  watts?: { readonly idle: number; readonly max: number },
): MachineSpec[] {
  const table = tableOf(text);
  const count = table.column('count');
  const name = table.column('name', 'sn');
  return table.rows.flatMap((row, kind) => {
    const resources = amountsOf(table, row);
    if (!resources.cpu) throw new HistoryError(`line ${row.line}: a machine has no cpu`);
    const many = count < 0 ? 1 : Number(row.cells[count] ?? 1);
    if (!Number.isInteger(many) || many < 0 || many > 100_000)
      throw new HistoryError(
        `line ${row.line}: count is ${JSON.stringify(row.cells[count])}: write a whole number`,
      );
    return Array.from({ length: many }, (_, index) => ({
      name: name < 0 ? `m${kind}-${index}` : `${row.cells[name] ?? kind}${many > 1 ? `-${index}` : ''}`,
      pool: 'replay',
      powerInterface: 'redfish',
      resources: { pods: 110, ...resources },
      ...(watts && { watts }),
    }));
  });
}
