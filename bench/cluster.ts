import { readFileSync } from 'node:fs';
import { CoreV1Api } from '@kubernetes/client-node';
import { Etcd3 } from 'etcd3';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { type ControlPlane, startControlPlane } from '../tools/real-stack/control-plane.ts';
import { controlPlanePrograms } from '../tools/real-stack/table.ts';
import { startHostProcess, writeHostFiles } from '../tools/support/host-process.ts';
import { findProgram } from '../tools/support/programs.ts';
import { send } from '../tools/worlds/cluster-client.ts';
import { nodeObject, podObject } from './cluster-objects.ts';
import type { Table } from './table.ts';

const nodes = 1000;
const podsPerNode = 30;
const restMs = 60_000;
const changes = 200;

/** A large cluster on a real API server: what the host takes to know it, and what it asks of the server at rest. */
export async function benchCluster(): Promise<Table> {
  const columns = ['', '', 'aim'];
  const missing = controlPlanePrograms.filter((program) => !findProgram(program));
  if (missing.length > 0)
    return { columns, rows: [], notes: [`skipped: no ${missing.join(', ')}; npm run test:real builds them`] };
  await using cleanup = new AsyncDisposableStack();
  const plane = await startControlPlane();
  cleanup.defer(() => plane.close());
  const lab = await startLab({
    machines: makeMachines(10, { cpu: 64, bootSeconds: 3600, pool: 'rack' }),
    kubeconfig: plane.kubeConfig.exportConfig(),
    registrar: 'kwok',
  });
  cleanup.defer(() => lab.stop());
  // Nobody else asks or changes anything from here on.
  await Promise.all([plane.controllerManager.kill(), plane.scheduler.kill(), plane.kwok.kill()]);

  const etcd = new Etcd3({ hosts: [...plane.etcd.endpoints] });
  cleanup.defer(() => etcd.close());
  await fill(etcd);
  await until('the API server has all pods', async () => (await count(plane)) === nodes * podsPerNode + 1);

  const files = await writeHostFiles(
    labConfig(lab.inventory(), { pools: [{ name: 'rack' }] }),
    plane.kubeConfig.exportConfig(),
    lab.inventory(),
  );
  cleanup.defer(() => files.remove());
  const quiet = await during(plane, 20_000);
  const startedAt = performance.now();
  const host = await startHostProcess(files, 'embedded:', { tick: '10s', logLevel: 'info' });
  cleanup.defer(async () => {
    host.kill('SIGKILL');
    await host.ended;
  });
  await until('a decision', async () => host.lines.some((line) => line.includes('"step":"decide"')));
  const decidedMs = performance.now() - startedAt;
  const atFirst = memoryOf(host.pid);

  const rest = await during(plane, restMs);
  const changed = await during(plane, 10_000, async () => {
    for (let index = 0; index < changes; index += 1)
      await etcd
        .put(podKey(`pod-0-${index % podsPerNode}`))
        .value(JSON.stringify(runningPod(0, index % podsPerNode)));
  });
  const perMinute = (seen: Requests, verb?: string) =>
    (60_000 * (verb ? (seen.byVerb.get(verb) ?? 0) : seen.all)) / seen.ms;
  const memory = memoryOf(host.pid);
  return {
    columns,
    rows: [
      ['from start to the first decision', `${(decidedMs / 1000).toFixed(1)} s`, '10 s'],
      ['memory of the process at its first decision', `${atFirst.now} MB`, ''],
      ['memory after a minute', `${memory.now} MB`, '300 MB'],
      ['memory at the most', `${memory.most} MB`, ''],
      ['requests a minute at rest', (perMinute(rest) - perMinute(quiet)).toFixed(0), ''],
      ['  of them lists', (perMinute(rest, 'LIST') - perMinute(quiet, 'LIST')).toFixed(0), '0'],
      [`lists while ${changes} pods change`, String(changed.byVerb.get('LIST') ?? 0), '0'],
    ],
    notes: [
      `${nodes} nodes with ${podsPerNode} pods each, ${JSON.stringify(runningPod(0, 0)).length} bytes a pod, on kube-apiserver; host in a process of its own, tick 10 s.`,
      `Without the host the server counts ${perMinute(quiet).toFixed(0)} requests a minute of its own, which are left out.`,
    ],
  };
}

const podKey = (name: string): string => `/registry/pods/default/${name}`;
const runningPod = (node: number, index: number) =>
  podObject({
    name: `pod-${node}-${index}`,
    app: `app-${(node * podsPerNode + index) % 500}`,
    node: `node-${node}`,
    cpu: '500m',
  });

/** Straight into etcd: the API server reads JSON too, and would take minutes to make them. */
async function fill(etcd: Etcd3): Promise<void> {
  const waiting = podObject({ name: 'waiting', app: 'large', cpu: '48' });
  await etcd.put(podKey('waiting')).value(JSON.stringify(waiting));
  for (let node = 0; node < nodes; node += 1) {
    const pods = Array.from({ length: podsPerNode }, (_, index) => runningPod(node, index));
    await Promise.all([
      etcd.put(`/registry/minions/node-${node}`).value(JSON.stringify(nodeObject(`node-${node}`))),
      ...pods.map((pod) => etcd.put(podKey(pod.metadata.name)).value(JSON.stringify(pod))),
    ]);
  }
}

async function count({ kubeConfig }: ControlPlane): Promise<number> {
  const { items, metadata } = await kubeConfig
    .makeApiClient(CoreV1Api)
    .listNamespacedPod({ namespace: 'default', limit: 1 });
  return items.length + (metadata?.remainingItemCount ?? 0);
}

interface Requests {
  readonly ms: number;
  readonly all: number;
  readonly byVerb: ReadonlyMap<string, number>;
}

/** The requests that the API server answered meanwhile; a watch counts when it ends. */
async function during(plane: ControlPlane, ms: number, work?: () => Promise<void>): Promise<Requests> {
  const before = await requestsSoFar(plane);
  const startedAt = performance.now();
  await work?.();
  await new Promise((resolve) => setTimeout(resolve, ms - (performance.now() - startedAt)));
  const after = await requestsSoFar(plane);
  const byVerb = new Map([...after].map(([verb, many]) => [verb, many - (before.get(verb) ?? 0)]));
  return {
    ms: performance.now() - startedAt,
    all: [...byVerb.values()].reduce((sum, many) => sum + many, 0),
    byVerb,
  };
}

async function requestsSoFar({ kubeConfig }: ControlPlane): Promise<Map<string, number>> {
  const { body } = await send(kubeConfig, 'GET', '/metrics');
  const seen = new Map<string, number>();
  for (const [, labels = '', value] of String(body).matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const [, verb = ''] = /verb="(\w+)"/.exec(labels) ?? [];
    seen.set(verb, (seen.get(verb) ?? 0) + Number(value));
  }
  return seen;
}

function memoryOf(pid: number): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string) =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1000);
  return { now: megabytes('VmRSS'), most: megabytes('VmHWM') };
}

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await check()); tries += 1) {
    if (tries > 6000) throw new Error(`waited in vain until: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
