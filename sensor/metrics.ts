import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Registry } from 'prom-client';
import { metricTable } from '../shared/runtime/metric-table.ts';
import { pressureBands } from '../shared/schema/pressure.ts';
import type { Source } from './sensor.ts';

/** What is told when somebody asks, as it is then. */
interface Observed {
  readonly sources: readonly Source[];
  readonly pods: number;
  readonly waiting: number;
  /** Since it was last asked. */
  readonly runQueueMs: () => number | undefined;
}

export interface SensorMetrics {
  readonly registry: Registry;
  readonly events: Counter<'node' | 'category' | 'sign'>;
  readonly failures: Counter<'node'>;
  observe(look: () => Observed): void;
}

const windowMs = 2_000;

/** Without those of the process: measuring the event loop would cost more than all that is sensed. */
export function createSensorMetrics(node: string): SensorMetrics {
  const registry = new Registry();
  const of = <Label extends string>(row: { name: string; help: string; labels: readonly Label[] }) => ({
    name: row.name,
    help: row.help,
    labelNames: [...row.labels],
    registers: [registry],
  });
  return {
    registry,
    events: new Counter(of(metricTable.pressureEvents)),
    failures: new Counter(of(metricTable.pressureFailures)),
    observe(look) {
      const gauge = (
        row: { name: string; help: string; labels: readonly string[] },
        set: (to: Gauge, observed: Observed) => void,
      ): void => {
        new Gauge({
          ...of(row),
          collect() {
            set(this, look());
          },
        });
      };
      gauge(metricTable.pressureShare, (to, { sources }) => {
        for (const { signal } of sources)
          to.set(
            { node, category: signal.category, signal: signal.name },
            signal.history.over(windowMs).share,
          );
      });
      gauge(metricTable.pressureBand, (to, { sources }) => {
        for (const { signal } of sources)
          to.set(
            { node, category: signal.category, signal: signal.name },
            pressureBands.indexOf(signal.tracker.band),
          );
      });
      gauge(metricTable.pressurePods, (to, { pods }) => to.set({ node }, pods));
      gauge(metricTable.pressureWaiting, (to, { waiting }) => to.set({ node }, waiting));
      gauge(metricTable.pressureRunQueue, (to, { runQueueMs }) => {
        const ms = runQueueMs();
        if (ms !== undefined) to.set({ node }, ms / 1_000);
      });
    },
  };
}

/** A server of its own, and small: the functions' would bring more than the sensor is. */
export async function serveMetrics({ registry }: SensorMetrics, host: string, port: number) {
  const server = createServer(async (request, response) => {
    if (request.url === '/metrics')
      response.setHeader('content-type', registry.contentType).end(await registry.metrics());
    else if (request.url?.startsWith('/health/'))
      response.setHeader('content-type', 'application/json').end('{"alive":true}');
    else response.writeHead(404).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
