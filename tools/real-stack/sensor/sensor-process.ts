import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSensor } from '../../../scripts/build/bundle.ts';
import { PressureReport } from '../../../shared/schema/pressure.ts';
import { sensorFlags } from './sensor-flags.ts';

export interface BuiltSensor {
  readonly folder: string;
  remove(): Promise<void>;
}

/** The sensor as it is shipped, with a Node.js that anybody may run: the project may be closed to others. */
export async function buildSensor(): Promise<BuiltSensor> {
  const folder = await mkdtemp(join(tmpdir(), 'bamel-sensor-'));
  await bundleSensor(folder);
  await cp(process.execPath, join(folder, 'node'));
  await chmod(folder, 0o755);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

interface Told {
  readonly report: PressureReport;
  /** When it came in, by this process's clock. */
  readonly at: number;
}

export interface SensorProcess {
  readonly pid: number;
  readonly told: readonly Told[];
  /** What it logged, a line of JSON each. */
  readonly lines: readonly string[];
  readonly metricsUrl: string;
  close(): Promise<void>;
}

/** As nobody, without any capability, which is how it is deployed. */
const unprivileged = [
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--bounding-set=-all',
  '--inh-caps=-all',
  '--no-new-privs',
];

export async function startSensor(
  { folder }: BuiltSensor,
  args: readonly string[] = [],
): Promise<SensorProcess> {
  const told: Told[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    told.push({ report: PressureReport.parse(JSON.parse(body).pressure), at: Date.now() });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sink = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const child = spawn(
    'setpriv',
    [
      ...unprivileged,
      join(folder, 'node'),
      ...sensorFlags,
      join(folder, 'sensor/index.mjs'),
      ...['--node-name', 'n1', '--sink', sink, '--health-port', '0', ...args],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/', env: { PATH: process.env.PATH } },
  );
  const lines: string[] = [];
  const ready = Promise.withResolvers<string>();
  child.once('exit', (code) => ready.reject(new Error(`the sensor ended with ${code}: ${lines.join('\n')}`)));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const parts = text.split('\n');
    text = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      const { msg, metrics } = JSON.parse(line);
      if (msg === 'sensing pressure') ready.resolve(metrics);
    }
  });
  const metricsUrl = await ready.promise;
  return {
    pid: child.pid ?? 0,
    told,
    lines,
    metricsUrl,
    async close() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      server.close();
      server.closeAllConnections();
    },
  };
}
