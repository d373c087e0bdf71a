import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../shared/adapters/store/open-store.ts';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { type HostProcess, startHostProcess, writeHostFiles } from '../tools/support/host-process.ts';
import type { Table } from './table.ts';

const webhooks = 10_000;
const overMs = 10_000;
const alertsEach = 5;
/** How many alerts there are: with more than are sent they are all new, with fewer most are repeats. */
const kinds = { 'every alert new': webhooks * alertsEach, 'most of them repeats': 500 } as const;
/** Each twice: what grows with every storm is a leak, what was needed once is not. */
const storms = [...Object.entries(kinds), ...Object.entries(kinds)];

/** 10,000 webhooks in 10 s, as an Alertmanager sends them in an alert storm, to a host in a process of its own. */
export async function benchEvents(): Promise<Table> {
  const lab = await startLab({ machines: makeMachines(100, { pool: 'rack', bootSeconds: 3_600 }) });
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack', limits: { maxNodes: 5 } }] });
  const files = await writeHostFiles(config, lab.kubeconfig, lab.inventory());
  const store = `embedded:${join(files.folder, 'store.db')}`;
  const host = await startHostProcess(files, store, {
    tick: '1h',
    logLevel: 'info',
    nodeArgs: ['--import', new URL('at-rest.ts', import.meta.url).href],
  });
  const evaluations = async (): Promise<number> => {
    const opened = await openStore(store, { readOnly: true });
    const entry = await opened.get('/baremetal/global/stats');
    await opened.close();
    return entry ? JSON.parse(entry.value).evaluations : 0;
  };
  try {
    const rows: string[][] = [];
    // What is compiled and allocated once is no leak.
    await storm(host.url, 1_000, 1_000, () => 0);
    for (const [name, distinct] of storms) {
      const before = { evaluations: await evaluations(), cpu: cpuMsOf(host.pid) };
      let next = 0;
      const began = performance.now();
      const { times, refused } = await storm(host.url, webhooks, overMs, () => next++ % distinct);
      const tookMs = performance.now() - began;
      const cpuMs = cpuMsOf(host.pid) - before.cpu;
      const { heapUsed, external, rss } = await atRest(host);
      const made = (await evaluations()) - before.evaluations;
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): string =>
        `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0)} ms`;
      rows.push([
        name,
        `${(tookMs / 1000).toFixed(1)} s`,
        String(refused),
        String(made),
        made > 0 ? `${Math.round(tookMs / made)} ms` : '–',
        `${(cpuMs / webhooks).toFixed(2)} ms`,
        at(0.5),
        at(0.99),
        at(1),
        mebibytes(heapUsed),
        mebibytes(external),
        mebibytes(rss),
      ]);
    }
    return {
      columns: [
        `${webhooks} webhooks of ${alertsEach} alerts`,
        'took',
        'refused',
        'evaluations',
        'one every',
        'cpu each',
        'p50',
        'p99',
        'longest',
        'heap at rest',
        'buffers',
        'RSS',
      ],
      rows,
      notes: [
        'Webhooks that come within 50 ms, or during an evaluation, share one. Alertmanager gives up after 10 s.',
        'Heap and buffers are what is left after a garbage collection; RSS is what the system has given, most of which is free for the next storm.',
        '100 machines, embedded store in a file, host in a process of its own; the sender shares the machine with it.',
      ],
    };
  } finally {
    host.kill('SIGKILL');
    await host.ended;
    await lab.stop();
    await files.remove();
  }
}

/** What the host spent, whatever else ran beside it: ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

/** What it holds once all that is dead is collected. */
async function atRest({ kill, lines }: HostProcess): Promise<NodeJS.MemoryUsage> {
  const before = lines.length;
  kill('SIGUSR2');
  for (let waited = 0; waited < 60_000; waited += 20) {
    const told = lines.slice(before).find((line) => line.startsWith('{"atRest":'));
    if (told) return JSON.parse(told).atRest;
    await sleep(20);
  }
  throw new Error('the host does not tell what memory it uses');
}

async function storm(
  url: string,
  count: number,
  durationMs: number,
  nextAlert: () => number,
): Promise<{ times: number[]; refused: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const times: number[] = [];
  let refused = 0;
  const send = async (): Promise<void> => {
    const began = performance.now();
    const status = await post(`${url}/evaluate-scaling`, payload(nextAlert), agent);
    times.push(performance.now() - began);
    if (status !== 200) refused += 1;
  };
  const sending: Promise<void>[] = [];
  const start = performance.now();
  while (sending.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - start) / durationMs) * count));
    while (sending.length < due) sending.push(send());
    await sleep(5);
  }
  await Promise.all(sending);
  agent.destroy();
  return { times, refused };
}

function payload(nextAlert: () => number): string {
  const alerts = Array.from({ length: alertsEach }, () => ({
    status: 'firing',
    labels: {
      alertname: 'Storm',
      bamel_scale: 'up',
      pool: 'rack',
      severity: 'page',
      instance: '10.0.0.1:9100',
    },
    annotations: { summary: 'pool rack is busy', description: 'as busy as can be' },
    startsAt: '2026-11-16T01:41:01.579Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus:9090/graph?g0.expr=vector%281%29&g0.tab=1',
    fingerprint: nextAlert().toString(16).padStart(16, '0'),
  }));
  return JSON.stringify({
    version: '4',
    groupKey: '{}:{alertname="Storm"}',
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'bamel',
    groupLabels: { alertname: 'Storm' },
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    alerts,
  });
}

function post(url: string, body: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const sent = request(url, { method: 'POST', agent, headers }, (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
