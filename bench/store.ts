import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Etcd3 } from 'etcd3';
import { openStore } from '../shared/adapters/store/open-store.ts';
import type { Store } from '../shared/ports/store.ts';
import { startEtcd } from '../tools/real-stack/etcd.ts';
import { findProgram } from '../tools/support/programs.ts';
import type { Table } from './table.ts';

/** One thing done once; `at` is a different number every time. */
type Operation = (at: number) => Promise<unknown> | unknown;
type Measured = Readonly<Record<string, number>>;

const value = JSON.stringify({ version: 1, state: 'ready', padding: 'x'.repeat(200) });
const measureMs = 1500;
const workers = 64;

/** What is measured, in the order of the columns. */
const operations = ['get', 'put', 'commit', 'commit ×64', 'list 1,000'] as const;
type Operations = Readonly<Record<(typeof operations)[number], Operation>>;

async function measure(all: Partial<Operations>): Promise<Measured> {
  const rates: Record<string, number> = {};
  for (const [name, operation] of Object.entries(all))
    rates[name] = await rate(operation, name.endsWith('×64') ? workers : 1);
  return rates;
}

/** Operations per second, with so many under way at a time. */
async function rate(operation: Operation, concurrency: number): Promise<number> {
  for (let at = 0; at < 20; at++) await operation(at);
  let done = 20;
  const start = performance.now();
  const work = async () => {
    while (performance.now() - start < measureMs) await operation(done++);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return ((done - 20) * 1000) / (performance.now() - start);
}

async function throughThePort(store: Store): Promise<Measured> {
  for (let from = 0; from < 1000; from += 100)
    await store.commit(
      [],
      Array.from({ length: 100 }, (_, at) => ({ put: `/l/${from + at}`, value })),
    );
  const swap: Operation = async (at) => {
    const key = `/c/${at % workers}`;
    const entry = await store.get(key);
    await store.commit([{ key, revision: entry?.revision ?? 0 }], [{ put: key, value }]);
  };
  return measure({
    get: (at) => store.get(`/l/${at % 1000}`),
    put: (at) => store.commit([], [{ put: `/p/${at % 1000}`, value }]),
    commit: swap,
    'commit ×64': swap,
    'list 1,000': () => store.list('/l/'),
  });
}

async function rawEtcd(hosts: string): Promise<Measured> {
  const client = new Etcd3({ hosts });
  const swap: Operation = async (at) => {
    const key = `/rc/${at % workers}`;
    const { kvs } = await client.get(key).exec();
    await client
      .if(key, 'Mod', '==', kvs[0]?.mod_revision ?? 0)
      .then(client.put(key).value(value))
      .commit();
  };
  try {
    for (let at = 0; at < 1000; at++) await client.put(`/rl/${at}`).value(value);
    return await measure({
      get: (at) => client.get(`/rl/${at % 1000}`).string(),
      put: (at) =>
        client
          .put(`/rp/${at % 1000}`)
          .value(value)
          .exec(),
      commit: swap,
      'commit ×64': swap,
      'list 1,000': () => client.getAll().prefix('/rl/').strings(),
    });
  } finally {
    client.close();
  }
}

async function rawSqlite(path: string): Promise<Measured> {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT)');
  const [get, put, list] = [
    database.prepare('SELECT value FROM entries WHERE key = ?'),
    database.prepare('INSERT OR REPLACE INTO entries VALUES (?, ?)'),
    database.prepare("SELECT * FROM entries WHERE key >= '/l/' AND key < '/l0'"),
  ];
  try {
    for (let at = 0; at < 1000; at++) put.run(`/l/${at}`, value);
    const swap: Operation = (at) => {
      get.get(`/c/${at % workers}`);
      put.run(`/c/${at % workers}`, value);
    };
    return await measure({
      get: (at) => get.get(`/l/${at % 1000}`),
      put: (at) => put.run(`/p/${at % 1000}`, value),
      commit: swap,
      'commit ×64': swap,
      'list 1,000': () => list.all(),
    });
  } finally {
    database.close();
  }
}

async function opened(url: string): Promise<Measured> {
  const store = await openStore(url);
  try {
    return await throughThePort(store);
  } finally {
    await store.close();
  }
}

/** Operations per second, each beside what the library below it does in the same run. */
export async function benchStore(): Promise<Table> {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-bench-'));
  const rows: string[][] = [];
  const add = (name: string, rates: Measured, raw?: Measured) =>
    rows.push([
      name,
      ...operations.map((operation) => {
        const [own, base] = [rates[operation] ?? 0, raw?.[operation]];
        return base ? `${format(own)} (${(own / base).toFixed(2)})` : format(own);
      }),
    ]);
  try {
    const memory = await rawSqlite(':memory:');
    add('raw node:sqlite, memory', memory);
    add('embedded, memory', await opened('embedded:'), memory);
    const file = await rawSqlite(join(folder, 'raw.db'));
    add('raw node:sqlite, file', file);
    add('embedded, file', await opened(`embedded:${join(folder, 'store.db')}`), file);
    return { columns: ['operations/s', ...operations], rows, notes: await addEtcd(add) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function addEtcd(add: (name: string, rates: Measured, raw?: Measured) => void): Promise<string[]> {
  const notes = ['in brackets: relative to the raw library in the row above'];
  if (!findProgram('etcd'))
    return [...notes, 'etcd left out: not found; node scripts/real-stack.ts build builds it'];
  const etcd = await startEtcd();
  try {
    const port = etcd.members[0]?.port;
    const raw = await rawEtcd(`http://127.0.0.1:${port}`);
    add('raw etcd3', raw);
    add('etcd', await opened(`etcd://127.0.0.1:${port}`), raw);
  } finally {
    await etcd.close();
  }
  return [...notes, 'etcd: one member, no fsync'];
}

const format = (rate: number) => Math.round(rate).toLocaleString('en');
