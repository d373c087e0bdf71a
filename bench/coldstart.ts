import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { functionTable } from '../functions/index.ts';
import { events } from '../shared/ports/event-types.ts';
import { newId } from '../shared/process/ids.ts';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { startEtcd } from '../tools/real-stack/etcd.ts';
import { freePorts } from '../tools/real-stack/ports.ts';
import { writeHostFiles } from '../tools/support/host-process.ts';
import { findProgram } from '../tools/support/programs.ts';
import type { Table } from './table.ts';

const rounds = 20;
const build = fileURLToPath(new URL('../scripts/build.ts', import.meta.url));
const columns = ['', 'spawn → first 204', 'fastest', 'of it on the main thread', 'node -e 0 beside it'];

interface Start {
  readonly wallMs: number;
  /** CPU time of the main thread until then, which depends less on how busy the machine is. */
  readonly threadMs: number;
}

/** From the start of a process to its first answer, for each function as it is built, beside Node.js alone. */
export async function benchColdstart(): Promise<Table> {
  if (!findProgram('etcd'))
    return { columns, rows: [], notes: ['skipped: no etcd found; npm run test:real builds it'] };
  await using cleanup = new AsyncDisposableStack();
  const dist = await mkdtemp(join(tmpdir(), 'bamel-cold-'));
  cleanup.defer(() => rm(dist, { recursive: true, force: true }));
  await promisify(execFile)(process.execPath, [build, '--out', dist]);
  const lab = await startLab({ machines: makeMachines(4, { pool: 'rack' }), speed: 10 });
  cleanup.defer(() => lab.stop());
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack' }] });
  const files = await writeHostFiles(config, lab.kubeconfig, lab.inventory());
  cleanup.defer(() => files.remove());
  const etcd = await startEtcd();
  cleanup.defer(() => etcd.close());
  const env = {
    BAMEL_STORE: `etcd://127.0.0.1:${etcd.members[0]?.port}`,
    BAMEL_CONFIG: files.config,
    KUBECONFIG: files.kubeconfig,
    BAMEL_CREDENTIALS_DIR: files.credentials,
    LOG_LEVEL: 'warn',
  };
  const start = (name: string, type: string) => firstAnswer([join(dist, 'function.mjs'), name], env, type);
  // Fills the store.
  await start('sync-inventory', events.tick);
  const rows: string[][] = [];
  for (const { definition } of functionTable) {
    const type = definition.takesAnyEvent ? 'com.example.given.up' : events.tick;
    const starts: Start[] = [];
    const bare: number[] = [];
    // In turn: the machine may be faster or slower a minute later.
    while (starts.length < rounds) {
      bare.push(await bareNode());
      starts.push(await start(definition.name, type));
    }
    const walls = starts.map(({ wallMs }) => wallMs);
    const threads = starts.map(({ threadMs }) => threadMs);
    rows.push([
      definition.name,
      ...[median(walls), Math.min(...walls), median(threads), median(bare)].map(
        (ms) => `${ms.toFixed(0)} ms`,
      ),
    ]);
  }
  return {
    columns,
    rows,
    notes: [
      `Medians of ${rounds} starts. A tick each, of four machines: read etcd, look at the cluster (HTTP) and at the BMCs where the function does, write, answer.`,
    ],
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** 0 where the system does not tell. */
const threadTime = (pid: number): Promise<number> =>
  readFile(`/proc/${pid}/schedstat`, 'utf8').then(
    (text) => Number(text.split(' ')[0]) / 1e6,
    () => 0,
  );

async function bareNode(): Promise<number> {
  const begun = performance.now();
  await once(spawn(process.execPath, ['-e', '0']), 'exit');
  return performance.now() - begun;
}

async function firstAnswer(
  args: readonly string[],
  env: Record<string, string>,
  type: string,
): Promise<Start> {
  const [port = 0] = await freePorts(1);
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
      const status = await post(port, type).catch(() => undefined);
      if (status === 204)
        return { wallMs: performance.now() - begun, threadMs: await threadTime(child.pid ?? 0) };
      if (performance.now() - begun > 60_000) throw new Error(`${args.join(' ')} answers ${status}`);
      await new Promise((resolve) => setTimeout(resolve, status === undefined ? 1 : 20));
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function post(port: number, type: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    // An event that was handled before would not be handled again.
    'ce-id': newId('cold'),
    'ce-source': '/bench',
    'ce-type': type,
  };
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sending = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  sending.on('error', reject);
  sending.end('{}');
  return promise;
}
