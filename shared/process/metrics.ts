import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isExportedBy, type MetricTable, metricTable } from './metric-table.ts';

type Kinds<Label extends string> = {
  readonly counter: Counter<Label>;
  readonly gauge: Gauge<Label>;
  readonly histogram: Histogram<Label>;
};

type Instruments = {
  readonly [Name in keyof MetricTable]: Kinds<MetricTable[Name]['labels'][number]>[MetricTable[Name]['type']];
};

export interface Metrics extends Instruments {
  readonly registry: Registry;
}

/**
 * One registry per process or test: nothing is registered globally. A function that runs alone exports only
 * its own metrics, so that the zeros of others are not mistaken for values.
 */
export function createMetrics(functionName?: string): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'bamel_' });
  const made = Object.entries(metricTable).map(([key, row]) => [
    key,
    instrument(row, isExportedBy(row, functionName) ? [registry] : []),
  ]);
  return { registry, ...(Object.fromEntries(made) as Instruments) };
}

function instrument(row: MetricTable[keyof MetricTable], registers: Registry[]) {
  const { name, help, labels } = row;
  const options = { name, help, labelNames: [...labels], registers };
  if (row.type === 'counter') return new Counter(options);
  if (row.type === 'gauge') return new Gauge(options);
  return new Histogram({ ...options, buckets: [...row.buckets] });
}
