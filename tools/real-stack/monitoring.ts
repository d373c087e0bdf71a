import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { findProgram } from '../support/programs.ts';
import { freePorts } from './ports.ts';
import { launch, makeWorkspace, type Program, untilReady } from './process.ts';

export const monitoringPrograms = ['prometheus', 'prometheus-alertmanager'] as const;

const shipped = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../config/prometheus/${name}`, import.meta.url)), 'utf8');

export interface Monitoring {
  readonly prometheus: Program & { readonly url: string };
  /** Two that do not know each other: everything is sent twice. */
  readonly alertmanagers: readonly (Program & { readonly url: string })[];
  /** What Prometheus scrapes from now on. */
  measure(text: string): void;
  close(): Promise<void>;
}

interface MonitoringOptions {
  /** Where alerts go; without, there is no Alertmanager. */
  readonly webhook?: { readonly url: string; readonly tokenFile: string };
}

/**
 * A real Prometheus with our rules and real Alertmanagers with our route. Only times are made shorter: scraped and
 * evaluated every second, and what says "for minutes" says a second.
 */
export async function startMonitoring({ webhook }: MonitoringOptions): Promise<Monitoring> {
  await using cleanup = new AsyncDisposableStack();
  const workspace = makeWorkspace('monitoring');
  cleanup.defer(() => workspace.remove());
  const { folder, logs } = workspace;
  let measured = '';
  const exporter = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
    response.end(measured);
  });
  exporter.listen(0, '127.0.0.1');
  await once(exporter, 'listening');
  cleanup.defer(() => {
    exporter.closeAllConnections();
    exporter.close();
  });
  const [prometheusPort = 0, ...ports] = await freePorts(webhook ? 3 : 1);
  const start = async (name: string, program: string, port: number, args: readonly string[]) => {
    const url = `http://127.0.0.1:${port}`;
    const ready = async () => (await fetch(`${url}/-/ready`)).ok || undefined;
    const running = launch({ name, path: findProgram(program) ?? program, logs, ready, args });
    cleanup.defer(() => running.kill());
    await untilReady(running, ready);
    return Object.assign(running, { url });
  };
  if (webhook) writeFileSync(join(folder, 'alertmanager.yaml'), alertmanagerConfig(webhook));
  const alertmanagers = await Promise.all(
    ports.map((port, index) =>
      start(`alertmanager-${index + 1}`, 'prometheus-alertmanager', port, [
        `--config.file=${join(folder, 'alertmanager.yaml')}`,
        `--storage.path=${join(folder, `alertmanager-${index + 1}`)}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ]),
    ),
  );
  const { port: target } = exporter.address() as AddressInfo;
  for (const name of ['recording-rules.yaml', 'alert-rules.yaml'])
    writeFileSync(join(folder, name), hurried(shipped(name)));
  writeFileSync(
    join(folder, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['recording-rules.yaml', 'alert-rules.yaml'],
      scrape_configs: [{ job_name: 'test', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }],
      alerting: {
        alertmanagers: [{ static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }] }],
      },
    }),
  );
  const prometheus = await start('prometheus', 'prometheus', prometheusPort, [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
    // An alert is valid for four times this: how long a dead Prometheus is believed to go on.
    '--rules.alert.resend-delay=2s',
  ]);
  const running = cleanup.move();
  return {
    prometheus,
    alertmanagers,
    measure(text) {
      measured = text;
    },
    close: () => running.disposeAsync(),
  };
}

interface Rules {
  readonly groups: readonly { interval?: string; readonly rules: readonly { for?: string }[] }[];
}

function hurried(text: string): string {
  const rules = parse(text) as Rules;
  for (const group of rules.groups) {
    delete group.interval;
    for (const rule of group.rules) if (rule.for) rule.for = '1s';
  }
  return stringify(rules);
}

function alertmanagerConfig({ url, tokenFile }: NonNullable<MonitoringOptions['webhook']>): string {
  const config = parse(shipped('alertmanager.yaml'));
  config.route.routes[0].group_interval = '1s';
  const [webhook] = config.receivers[1].webhook_configs;
  webhook.url = url;
  webhook.http_config.authorization.credentials_file = tokenFile;
  return stringify(config);
}

/** What node-exporter and kube-state-metrics would tell of a node of the pool that is so busy, in percent. */
export const nodeMetrics = (node: string, pool: string, percent: number): string => `
node_uname_info{nodename="${node}"} 1
kube_node_labels{node="${node}",label_bamel_dev_pool="${pool}"} 1
node_memory_MemTotal_bytes 100
node_memory_MemAvailable_bytes ${100 - percent}
bamel_build_info{version="test",node="test"} 1
`;
