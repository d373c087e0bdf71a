import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { events } from '../functions/events.ts';
import { functionTable } from '../functions/index.ts';
import { newId } from '../shared/runtime/ids.ts';
import type { ConfigInput } from '../shared/schema/config-file.ts';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { startControlPlane } from '../test/real/stack/control-plane.ts';
import { startEtcd } from '../test/real/stack/etcd.ts';
import { freePorts } from '../test/real/stack/ports.ts';
import { controlPlanePrograms } from '../test/real/stack/table.ts';
import { writeHostFiles } from '../test/support/host-process.ts';
import { findProgram } from '../test/support/programs.ts';
import { apply, install, pathOf } from '../test/sync-inventory/definitions.ts';
import type { Table } from './table.ts';

const rounds = 20;
const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

interface Start {
  readonly wallMs: number;
  /** What the main thread has used by then: the same however busy the machine is. */
  readonly threadMs: number;
}

const columns = [
  '',
  'API server',
  'spawn → first 204',
  'of it on the main thread',
  'node -e 0 beside it',
  '− node alone',
  '÷ node alone',
];

/** From the start of a process to its first answer, for each function as it is built, beside Node.js alone. */
export async function benchColdstart(): Promise<Table> {
  if (!findProgram('etcd'))
    return { columns, rows: [], notes: ['skipped: no etcd found; npm run test:real builds it'] };
  await using cleanup = new AsyncDisposableStack();
  const dist = await mkdtemp(join(tmpdir(), 'bamel-cold-'));
  cleanup.defer(() => rm(dist, { recursive: true, force: true }));
  await run(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist]);
  const lab = await startLab({ machines: makeMachines(4, { pool: 'rack' }), speed: 10 });
  cleanup.defer(() => lab.stop());
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack' }] });
  const clusters: Reached[] = [{ name: 'the lab, HTTP', kubeconfig: lab.kubeconfig }];
  const missing = controlPlanePrograms.filter((program) => !findProgram(program));
  if (missing.length === 0) {
    const plane = await startControlPlane();
    cleanup.defer(() => plane.close());
    clusters.push({
      name: 'kube-apiserver, TLS, tokens',
      kubeconfig: plane.kubeConfig.exportConfig(),
      token: await callersToken(plane.kubeConfig),
    });
  }

  const rows: string[][] = [];
  for (const { name: cluster, kubeconfig, token } of clusters) {
    await describe(kubeconfig, config);
    // In JSON it needs as little reading as the account of a pod.
    const files = await writeHostFiles(config, JSON.stringify(parse(kubeconfig)), lab.inventory());
    cleanup.defer(() => files.remove());
    const etcd = await startEtcd();
    cleanup.defer(() => etcd.close());
    const env = {
      BAMEL_STORE: `etcd://127.0.0.1:${etcd.members[0]?.port}`,
      BAMEL_CONFIG: 'resources:',
      KUBECONFIG: files.kubeconfig,
      BAMEL_CREDENTIALS_DIR: files.credentials,
      LOG_LEVEL: 'info',
      ...(token && { BAMEL_TOKEN_AUDIENCE: audience }),
    };
    const start = (name: string, type: string = events.tick) =>
      firstAnswer(join(dist, 'functions', name), env, headersOf(type, token));
    // Fills the store.
    await start('sync-inventory');
    for (const { definition } of functionTable) {
      const { name, takesAnyEvent } = definition;
      const first = () => start(name, takesAnyEvent ? 'com.example.given.up' : events.tick);
      rows.push([name, cluster, ...cells(await measured(first))]);
    }
  }
  return {
    columns,
    rows,
    notes: [
      `Medians of ${rounds} starts, as an image starts them, with the settings of knative/settings.yaml; before and after them as many of Node.js alone, because the machine may be faster or slower a minute later.`,
      'A tick each, of four machines described by custom resources: ask the API server whose token it is (not in the lab), read etcd, look at the cluster and at the BMCs where the function does, write, answer.',
      ...(missing.length > 0
        ? [`skipped: kube-apiserver; no ${missing.join(', ')}; npm run test:real builds them`]
        : []),
    ],
  };
}

interface Reached {
  readonly name: string;
  readonly kubeconfig: string;
  /** What callers come with, as on Knative; undefined: anybody may call. */
  readonly token?: string;
}

const audience = 'bamel';

/** As Knative has one made for a Trigger. */
async function callersToken(kubeConfig: KubeConfig): Promise<string> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const account = { namespace: 'default', name: 'trigger' };
  await core.createNamespacedServiceAccount({ ...account, body: { metadata: { name: account.name } } });
  const body = { spec: { audiences: [audience] } };
  const { status } = await core.createNamespacedServiceAccountToken({ ...account, body });
  if (!status?.token) throw new Error('the API server made no token');
  return status.token;
}

/** Makes the custom resources of an inventory. */
async function describe(kubeconfig: string, { autoscaler, pools, machines }: ConfigInput): Promise<void> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(kubeconfig);
  await install(kubeConfig);
  const kinds = {
    BareMetalAutoscaler: [{ name: 'home', ...autoscaler }],
    NodePool: pools ?? [],
    BareMetalNode: machines ?? [],
  };
  for (const [kind, all] of Object.entries(kinds))
    for (const { name, ...spec } of all) {
      const body = { apiVersion: 'bamel.dev/v1alpha1', kind, metadata: { name }, spec };
      const answer = await apply(kubeConfig, pathOf('default', kind, name), body);
      if (answer.code !== 201) throw new Error(`${kind} ${name}: ${JSON.stringify(answer)}`);
    }
}

interface Measured extends Start {
  readonly bareMs: number;
}

async function measured(start: () => Promise<Start>): Promise<Measured> {
  const before = await inARow(rounds / 2, bareNode);
  const starts = await inARow(rounds, start);
  const after = await inARow(rounds / 2, bareNode);
  return {
    wallMs: median(starts.map(({ wallMs }) => wallMs)),
    threadMs: median(starts.map(({ threadMs }) => threadMs)),
    bareMs: median([...before, ...after]),
  };
}

async function inARow<Value>(times: number, start: () => Promise<Value>): Promise<Value[]> {
  const all: Value[] = [];
  while (all.length < times) all.push(await start());
  return all;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const ms = (value: number): string => `${value.toFixed(0)} ms`;
const cells = ({ wallMs, threadMs, bareMs }: Measured): string[] => [
  ms(wallMs),
  threadMs > 0 ? ms(threadMs) : '–',
  ms(bareMs),
  ms(wallMs - bareMs),
  (wallMs / bareMs).toFixed(1),
];

/** 0 where the system does not tell. */
const threadTime = (pid: number): Promise<number> =>
  readFile(`/proc/${pid}/schedstat`, 'utf8').then(
    (text) => Number(text.split(' ')[0]) / 1e6,
    () => 0,
  );

async function bareNode(): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("."); process.stdin.resume()'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const wallMs = performance.now() - begun;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return wallMs;
}

async function firstAnswer(
  folder: string,
  env: Record<string, string>,
  headers: () => Record<string, string>,
): Promise<Start> {
  const [port = 0] = await freePorts(1);
  const begun = performance.now();
  const child = spawn(join(folder, 'start'), {
    env: { PATH: dirname(process.execPath), PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${folder} ended with ${child.exitCode}`);
      const status = await post(port, headers()).catch(() => undefined);
      if (status === 204)
        return { wallMs: performance.now() - begun, threadMs: await threadTime(child.pid ?? 0) };
      if (performance.now() - begun > 60_000) throw new Error(`${folder} answers ${status}`);
      await new Promise((resolve) => setTimeout(resolve, status === undefined ? 1 : 20));
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

const headersOf = (type: string, token: string | undefined) => () => ({
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  // One that was seen before would not be handled.
  'ce-id': newId('cold'),
  'ce-source': '/bench',
  'ce-type': type,
  ...(token && { authorization: `Bearer ${token}` }),
});

function post(port: number, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sending = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  sending.on('error', reject);
  sending.end('{}');
  return promise;
}
