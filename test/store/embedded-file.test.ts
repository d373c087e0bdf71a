import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteError } from '../../shared/adapters/sqlite/database.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { keys } from '../../shared/state/keys.ts';
import { newFolder } from '../support/cleanup.ts';

let folder: string;
let file: string;
let kill: (() => Promise<void>) | undefined;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'sub', 'store.db');
});
afterEach(async () => {
  await kill?.();
});

const open = (options = {}) => openStore(`embedded:${file}`, options);

/** Another process that opens the store and runs the lines; it lives until it is killed. */
async function otherProcess(lines: string): Promise<void> {
  const module = new URL('../../shared/adapters/store/open-store.ts', import.meta.url);
  const script = `
    import { openStore } from '${module}';
    const store = await openStore('embedded:${file}');
    ${lines}
    console.log('done');
    setInterval(() => undefined, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  kill = async () => {
    kill = undefined;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await once(child.stdout, 'data');
}

test('only its owner can read the store', async () => {
  const store = await open();
  await store.commit([], [{ put: '/a', value: '1' }]);
  const files = readdirSync(join(folder, 'sub'));
  expect(files).toEqual(expect.arrayContaining(['store.db', 'store.db-wal', 'store.db.lock']));
  for (const name of files) expect(statSync(join(folder, 'sub', name)).mode & 0o077).toBe(0);
  await store.close();
});

test('what was committed is there after a restart, and revisions go on', async () => {
  const before = await open();
  const { revision } = await before.commit([], [{ put: '/a', value: '1' }]);
  await before.commit([], [{ put: '/b', value: '1' }]);
  const last = await before.commit([], [{ delete: '/b' }]);
  await before.close();
  const after = await open();
  expect(await after.get('/a')).toEqual({ key: '/a', value: '1', revision, created: revision });
  expect((await after.list('/')).revision).toBe(last.revision);
  expect((await after.commit([], [{ put: '/c', value: '1' }])).revision).toBe(last.revision + 1);
  await after.close();
});

test('what was committed is there after the process was killed, and its leases and its lock are not', async () => {
  await otherProcess(`
    await store.commit([], [{ put: '/a', value: 'kept' }]);
    await store.acquire('machine', 600_000, 'child');
  `);
  await expect(open()).rejects.toThrow(
    `${file} is in use by another bamel process; stop it, or use BAMEL_STORE=etcd://`,
  );
  const reader = await open({ readOnly: true });
  expect((await reader.list(keys.leases)).entries).toHaveLength(1);
  await reader.close();
  await kill?.();
  const store = await open();
  expect((await store.get('/a'))?.value).toBe('kept');
  expect((await store.list(keys.leases)).entries).toEqual([]);
  const lease = await store.acquire('machine', 1000, 'parent');
  expect(lease?.remainingMs()).toBeGreaterThan(0);
  await store.close();
});

test('a second one in the same process is refused, until the first is closed', async () => {
  const first = await open();
  await expect(open()).rejects.toMatchObject({ code: 'refused' });
  await first.close();
  const second = await open();
  expect((await second.list('/')).entries).toEqual([]);
  await second.close();
});

test('a read-only one sees what the owner commits, and changes nothing', async () => {
  const owner = await open();
  await owner.commit([], [{ put: '/a', value: '1' }]);
  const reader = await open({ readOnly: true });
  expect((await reader.get('/a'))?.value).toBe('1');
  await owner.commit([], [{ put: '/a', value: '2' }]);
  expect((await reader.get('/a'))?.value).toBe('2');
  await expect(reader.commit([], [{ put: '/a', value: '3' }])).rejects.toMatchObject({ code: 'refused' });
  await expect(reader.acquire('machine', 1000, 'me')).rejects.toMatchObject({ code: 'refused' });
  await expect(reader.watch('/', () => undefined)).rejects.toMatchObject({ code: 'refused' });
  await reader.close();
  expect((await owner.get('/a'))?.value).toBe('2');
  await owner.close();
});

test('a read-only one makes no file', async () => {
  await expect(open({ readOnly: true })).rejects.toThrow(`${file} does not exist`);
});

test('closing tells holders of leases and frees them; later calls say that it is closed', async () => {
  const store = await open();
  const lease = await store.acquire('machine', 60_000, 'me');
  await store.close();
  expect(lease?.lost.aborted).toBe(true);
  await expect(store.get('/a')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('is closed'),
  });
  const reader = await open({ readOnly: true });
  expect((await reader.list(keys.leases)).entries).toEqual([]);
  await reader.close();
});

test.each([
  ['a file of something else', 'is not a bamel store', () => writeFileSync(file, 'x'.repeat(4096))],
  ['a newer format', 'newer bamel (format 99', () => new DatabaseSync(file).exec('PRAGMA user_version = 99')],
])('%s is refused and says so', async (_name, message, make) => {
  file = join(folder, 'store.db');
  make();
  await expect(open()).rejects.toThrow(message);
  await expect(open({ readOnly: true })).rejects.toThrow(message);
});

test('no space left is said to be just that', () => {
  const database = new DatabaseSync(join(folder, 'small.db'));
  database.exec('PRAGMA max_page_count = 4; CREATE TABLE t (x)');
  const fill = () => database.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(100_000));
  let error: unknown;
  try {
    fill();
  } catch (caught) {
    error = caught;
  }
  database.close();
  for (const during of ['commit', 'other'] as const)
    expect(sqliteError(error, 'the store', during)).toMatchObject({
      code: 'full',
      message: expect.stringContaining('Nothing is powered on or off'),
    });
  const other = new Error('disk I/O error');
  expect(sqliteError(other, 'the store', 'commit').code).toBe('ambiguous');
  expect(sqliteError(other, 'the store', 'other').code).toBe('unavailable');
});
