import { z } from 'zod';
import { ConfigError } from './config-file.ts';
import { formatCsv, parseCsv } from './csv.ts';
import { type MachineInput, MachineSpec } from './machine.ts';
import { describeProblem, fieldProblems } from './zod-issue.ts';

interface Column {
  readonly path: readonly string[];
  /** Type of a cell: a text, a number or amount, a boolean, or JSON. */
  readonly kind: 'text' | 'amount' | 'boolean' | 'json';
}

type Json = z.core.JSONSchema.JSONSchema;

/** Set by the autoscaler only. */
const notWritten = new Set(['made']);

/** One column per field that is a single value; lists and maps are JSON in one column. */
function columnsOf(schema: Json, path: readonly string[] = []): Column[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): Column[] => {
    if (typeof field !== 'object' || notWritten.has(name)) return [];
    const here = [...path, name];
    if (field.properties) return columnsOf(field, here);
    return [{ path: here, kind: kindOf(field) }];
  });
}

function kindOf({ type }: Json): Column['kind'] {
  if (type === 'string') return 'text';
  if (type === 'boolean') return 'boolean';
  const types = [type].flat();
  return types.includes('number') || types.includes('integer') ? 'amount' : 'json';
}

const columns = (): Column[] =>
  columnsOf(z.toJSONSchema(MachineSpec, { io: 'input', unrepresentable: 'any' }));

const titleOf = ({ path }: Column): string => path.join('.');

function valueAt(machine: object, path: readonly string[]): unknown {
  let value: unknown = machine;
  for (const key of path) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}

/** Machines as a table, for inventories that take no other: only columns that some machine uses. */
export function machinesToCsv(machines: readonly MachineInput[]): string {
  const used = columns().filter(({ path }) =>
    machines.some((machine) => valueAt(machine, path) !== undefined),
  );
  const cell = (machine: MachineInput, { path, kind }: Column): string => {
    const value = valueAt(machine, path);
    if (value === undefined) return '';
    return kind === 'json' ? JSON.stringify(value) : String(value);
  };
  return formatCsv([
    used.map(titleOf),
    ...machines.map((machine) => used.map((column) => cell(machine, column))),
  ]);
}

/**
 * Parses the machines of a table. Every problem is reported with its line, and a table with one is not used
 * at all.
 */
export function machinesFromCsv(text: string, fileName: string, pools: readonly string[]): MachineInput[] {
  const [titles, ...rows] = parseCsv(text);
  const problems: string[] = [];
  const known = new Map(columns().map((column) => [titleOf(column), column]));
  for (const title of titles?.cells ?? [])
    if (!known.has(title))
      problems.push(`${fileName}:1 there is no column ${title}; there are ${[...known.keys()].join(', ')}`);
  const lineOf = new Map<string, number>();
  const machines = rows.map(({ cells, line }) => {
    const machine: Record<string, unknown> = {};
    const report = (problem: string): void => void problems.push(`${fileName}:${line} ${problem}`);
    if (cells.length !== titles?.cells.length)
      report(`has ${cells.length} cells, the first line ${titles?.cells.length}`);
    for (const [index, title] of (titles?.cells ?? []).entries()) {
      const column = known.get(title);
      const cell = cells[index] ?? '';
      if (column && cell !== '') put(machine, column, cell, report);
    }
    const parsed = MachineSpec.safeParse(machine);
    if (!parsed.success)
      for (const problem of fieldProblems(MachineSpec, parsed.error)) report(describeProblem(problem));
    const { name, pool } = machine as MachineInput;
    if (pool !== undefined && !pools.includes(pool))
      report(`pool: there is no pool ${pool}; there are ${pools.join(', ') || 'none'}`);
    const first = lineOf.get(name);
    if (first !== undefined) report(`name: ${name} is there twice, first in line ${first}`);
    else lineOf.set(name, line);
    return machine as MachineInput;
  });
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return machines;
}

function put(
  machine: Record<string, unknown>,
  { path, kind }: Column,
  cell: string,
  tell: (problem: string) => void,
) {
  let at = machine;
  for (const key of path.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Record<string, unknown>;
  }
  at[path.at(-1) ?? ''] = read(kind, cell, () => tell(`${path.join('.')}: ${cell} is not JSON`));
}

function read(kind: Column['kind'], cell: string, notJson: () => void): unknown {
  if (kind === 'amount' && /^-?\d+(\.\d+)?$/.test(cell)) return Number(cell);
  if (kind === 'boolean' && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
  if (kind !== 'json') return cell;
  try {
    return JSON.parse(cell);
  } catch {
    notJson();
    return undefined;
  }
}
