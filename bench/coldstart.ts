import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { events } from '../functions/events.ts';
import { functionTable } from '../functions/index.ts';
import { readConfig } from '../shared/adapters/config-file.ts';
import { loadInventory } from '../shared/adapters/inventory-load.ts';
import { openStore } from '../shared/adapters/store.ts';
import { newId } from '../shared/runtime/ids.ts';
import { labConfig } from '../simulator/lab/config.ts';
import { startLab } from '../simulator/lab/lab.ts';
import { makeMachines } from '../simulator/lab/rack/description.ts';
import { startEtcd } from '../test/real/stack/etcd.ts';
import { freePorts } from '../test/real/stack/ports.ts';
import { writeHostFiles } from '../test/support/host-process.ts';
import { findProgram } from '../test/support/programs.ts';
import type { Table } from './table.ts';

const rounds = 20;
const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

interface Start {
  readonly wallMs: number;
  /** What the main thread has used by then: the same however busy the machine is. */
  readonly threadMs: number;
}

/** From the start of a process to its first answer, for each function as it is built, beside Node.js alone. */
export async function benchColdstart(): Promise<Table> {
  await using cleanup = new AsyncDisposableStack();
  const dist = await mkdtemp(join(tmpdir(), 'bamel-cold-'));
  cleanup.defer(() => rm(dist, { recursive: true, force: true }));
  await run(process.execPath, [join(root, 'scripts/build.ts'), '--out', dist]);
  const lab = await startLab({ machines: makeMachines(4, { pool: 'rack' }), speed: 10 });
  cleanup.defer(() => lab.stop());
  const config = labConfig(lab.inventory(), { pools: [{ name: 'rack' }] });
  const files = await writeHostFiles(config, lab.kubeconfig, lab.inventory());
  cleanup.defer(() => files.remove());
  const etcd = findProgram('etcd') ? await startEtcd() : undefined;
  cleanup.defer(async () => etcd?.close());
  const stores = [
    { name: 'embedded', url: `embedded:${join(dist, 'store/file')}` },
    ...(etcd ? [{ name: 'etcd', url: `etcd://127.0.0.1:${etcd.members[0]?.port}` }] : []),
  ];
  await mkdir(join(dist, 'store'));
  for (const { url } of stores) await fill(url, files.config);
  // Each start finds the file as it was filled, with nothing beside it that the one before has left.
  await cp(join(dist, 'store'), join(dist, 'filled'), { recursive: true });
  const asFilled = async () => {
    await rm(join(dist, 'store'), { recursive: true });
    await cp(join(dist, 'filled'), join(dist, 'store'), { recursive: true });
  };

  const bare = await measured(() => bareNode());
  const rows = [['node -e 0', '', ...cells(bare, bare)]];
  for (const { name: store, url } of stores)
    for (const { definition } of functionTable) {
      const { name, takesAnyEvent } = definition;
      const env = {
        BAMEL_STORE: url,
        BAMEL_CONFIG: files.config,
        KUBECONFIG: files.kubeconfig,
        BAMEL_CREDENTIALS_DIR: files.credentials,
        LOG_LEVEL: 'fatal',
      };
      const type = takesAnyEvent ? 'com.example.given.up' : events.tick;
      const starts = await measured(async () => {
        await asFilled();
        return firstAnswer(join(dist, 'functions', name), env, type);
      });
      rows.push([name, store, ...cells(starts, bare)]);
    }
  return {
    columns: ['', 'store', 'spawn → first 204', 'of it on the main thread', '− node alone', '÷ node alone'],
    rows,
    notes: [
      `Medians of ${rounds} starts, one after the other, as an image starts them: from the snapshot that the build has made.`,
      'A tick each, of an inventory of four machines: read the store, look at the cluster (the lab’s API server) and at the BMCs where the function does, write, answer.',
    ],
  };
}

/** With the machines of a file, as they stand there after sync-inventory. */
async function fill(url: string, file: string): Promise<void> {
  const store = await openStore(url);
  await loadInventory(store, await readConfig(file));
  await store.close();
}

async function measured(start: () => Promise<Start>): Promise<Start> {
  const starts: Start[] = [];
  for (let round = 0; round < rounds; round += 1) starts.push(await start());
  const median = (pick: (one: Start) => number): number =>
    starts.map(pick).sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  return { wallMs: median(({ wallMs }) => wallMs), threadMs: median(({ threadMs }) => threadMs) };
}

const ms = (value: number): string => `${value.toFixed(0)} ms`;
const cells = (one: Start, bare: Start): string[] => [
  ms(one.wallMs),
  one.threadMs > 0 ? ms(one.threadMs) : '–',
  ms(one.wallMs - bare.wallMs),
  (one.wallMs / bare.wallMs).toFixed(1),
];

/** 0 where the system does not tell. */
const threadTime = (pid: number): Promise<number> =>
  readFile(`/proc/${pid}/schedstat`, 'utf8').then(
    (text) => Number(text.split(' ')[0]) / 1e6,
    () => 0,
  );

async function bareNode(): Promise<Start> {
  const begun = performance.now();
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("."); process.stdin.resume()'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const start = { wallMs: performance.now() - begun, threadMs: await threadTime(child.pid ?? 0) };
  child.kill('SIGKILL');
  await once(child, 'exit');
  return start;
}

async function firstAnswer(folder: string, env: Record<string, string>, type: string): Promise<Start> {
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
      const status = await post(port, type).catch(() => undefined);
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

function post(port: number, type: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    // One that was seen before would not be handled.
    'ce-id': newId('cold'),
    'ce-source': '/bench',
    'ce-type': type,
  };
  const sending = request({ host: '127.0.0.1', port, method: 'POST', headers, agent: false }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  sending.on('error', reject);
  sending.end('{}');
  return promise;
}
