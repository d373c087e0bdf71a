import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, type } from 'node:os';
import type { Table } from './table.ts';

/** One benchmark as it was run, in bench/figures/NAME.json. docs/figures.md is generated from these files. */
export interface Figures {
  readonly command: string;
  readonly date: string;
  readonly machine: string;
  /** Load average of the last minute when it started: other work on the machine. */
  readonly load: string;
  readonly tables: readonly Table[];
}

const folder = new URL('./figures/', import.meta.url);

/** What to know of this machine, before a benchmark puts load on it. */
export const machineNow = (): Pick<Figures, 'date' | 'machine' | 'load'> => ({
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${type()} ${release()}, Node.js ${process.versions.node}`,
  load: (loadavg()[0] ?? 0).toFixed(1),
});

export function keepFigures(name: string, figures: Figures): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(figures, null, 2)}\n`);
}
