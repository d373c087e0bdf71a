import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pressureBands } from '../shared/core/decide/signals/pressure-bands.ts';
import type { MetricRow } from '../shared/process/metric-row.ts';
import { metricTable } from '../shared/process/metric-table.ts';
import type { PressureReport } from '../shared/schema/pressure.ts';
import type { Source } from './sensor.ts';

/** The metrics at the time of a scrape. */
export interface Observed {
  readonly node: string;
  readonly sources: readonly Source[];
  readonly pods: number;
  readonly waiting: number;
  readonly failures: number;
  /** Events that were taken, by category and sign. */
  readonly sent: ReadonlyMap<string, { readonly report: PressureReport; readonly count: number }>;
  /** Of the waits for a cpu since it was last asked; only with eBPF. */
  readonly runQueueMs: number | undefined;
}

interface Point {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

const windowMs = 2_000;

/** In Prometheus's text format, by hand: what writes it for the functions is larger than the sensor. */
export function metricsText(observed: Observed): string {
  const { node, sources, pods, waiting, failures, sent, runQueueMs } = observed;
  const bySource = (value: (source: Source) => number): Point[] =>
    sources.map((source) => ({
      labels: { category: source.signal.category, signal: source.signal.name },
      value: value(source),
    }));
  const rows: readonly (readonly [MetricRow, readonly Point[]])[] = [
    [metricTable.pressureShare, bySource(({ signal }) => signal.history.over(windowMs).share)],
    [metricTable.pressureBand, bySource(({ signal }) => pressureBands.indexOf(signal.tracker.band))],
    [
      metricTable.pressureEvents,
      [...sent.values()].map(({ report: { category, sign }, count }) => ({
        labels: { category, sign },
        value: count,
      })),
    ],
    [metricTable.pressureFailures, [{ value: failures }]],
    [metricTable.pressureWaiting, [{ value: waiting }]],
    [metricTable.pressurePods, [{ value: pods }]],
    [metricTable.pressureRunQueue, runQueueMs === undefined ? [] : [{ value: runQueueMs / 1_000 }]],
  ];
  return rows
    .map(([{ name, help, type }, points]) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...points.map(({ labels, value }) => `${name}{${labelsText({ node, ...labels })}} ${value}`),
        '',
      ].join('\n'),
    )
    .join('\n');
}

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`)
    .join(',');

/** A server of its own, and small: the functions' would bring more than the sensor is. */
export async function serveMetrics(look: () => Observed, host: string, port: number) {
  const server = createServer((request, response) => {
    if (request.url === '/metrics')
      response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8').end(metricsText(look()));
    else if (request.url?.startsWith('/health/'))
      response.setHeader('content-type', 'application/json').end('{"alive":true}');
    else response.writeHead(404).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
