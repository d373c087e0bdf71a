import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { restore } from '../../shared/state/backup.ts';
import { startEtcd } from '../../tools/real-stack/etcd.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { closing, newFolder } from '../support/cleanup.ts';
import { runBamel } from './run-bamel.ts';

let folder: string;
let at: (name: string) => string;
beforeEach(() => {
  folder = newFolder();
  at = (name) => join(folder, name);
});

const linesOf = (file: string) => readFileSync(at(file), 'utf8').trimEnd().split('\n');
const digest = (lines: readonly string[]) => createHash('sha256').update(lines.join('\n')).digest('hex');
/** Compared instead of the lines themselves, which would fill the screen. */
const withoutHeader = (file: string) => digest(linesOf(file).slice(1));
const values = async (url: string) => {
  const store = await openStore(url);
  const { entries } = await store.list('/');
  await store.close();
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
};

/** More keys than one commit takes, more bytes too, and every kind of character. */
async function fill(url: string): Promise<void> {
  const store = await openStore(url, { durable: false });
  const spec = (at: number) => ({ put: `/baremetal/nodes/n${at}/spec`, value: `{"name":"ü😀\\n${at}"}` });
  for (let from = 0; from < 250; from += 50)
    await store.commit(
      [],
      Array.from({ length: 50 }, (_, at) => spec(from + at)),
    );
  for (let at = 0; at < 4; at++)
    await store.commit([], [{ put: `/baremetal/decisions/${at}`, value: '\u0000 "\\'.repeat(150_000) }]);
  await store.commit([], [{ put: '/elsewhere', value: 'not ours' }]);
  await store.close();
}

test('what is backed up beside a running owner and restored is the same', async () => {
  const from = `embedded:${at('from.db')}`;
  await fill(from);
  const owner = await openStore(from);
  await owner.acquire('machine', 60_000, 'me');
  expect(await runBamel(['backup', '-o', at('one')], { BAMEL_STORE: from })).toMatchObject({
    code: 0,
    stdout: '',
  });
  await owner.close();

  const [header = ''] = linesOf('one');
  expect(JSON.parse(header)).toMatchObject({ format: 'bamel-backup', version: 1, keys: 254 });
  expect(Object.keys(JSON.parse(header))).toEqual(['format', 'version', 'revision', 'at', 'keys']);
  expect(statSync(at('one')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
  const to = `embedded:${at('to.db')}`;
  const restored = await runBamel(['restore', '-f', at('one'), '--store', to]);
  expect(restored).toEqual({ code: 0, stdout: '', stderr: 'restored 254 keys\n' });
  const { '/elsewhere': _, ...ours } = await values(from);
  expect(await values(to)).toEqual(ours);
  const { stdout } = await runBamel(['backup', '--store', to]);
  expect(digest(stdout.trimEnd().split('\n').slice(1))).toBe(withoutHeader('one'));
});

test('a store that is not empty is refused, and replaced when told so', async () => {
  const [from, to] = [`embedded:${at('from.db')}`, `embedded:${at('to.db')}`];
  for (const [url, key] of [
    [from, 'new'],
    [to, 'old'],
  ] as const) {
    const store = await openStore(url);
    await store.commit([], [{ put: `/baremetal/nodes/${key}/spec`, value: key }]);
    await store.commit([], [{ put: '/baremetal/global/config', value: key }]);
    await store.commit([], [{ put: '/elsewhere', value: key }]);
    await store.close();
  }
  await runBamel(['backup', '-o', at('one'), '--store', from]);
  const before = await values(to);
  const refused = await runBamel(['restore', '-f', at('one'), '--store', to]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    'the store is not empty (2 keys, e.g. /baremetal/global/config); --replace',
  );
  expect(await values(to)).toEqual(before);
  expect((await runBamel(['restore', '-f', at('one'), '--store', to, '--replace'])).code).toBe(0);
  expect(await values(to)).toEqual({
    '/baremetal/global/config': 'new',
    '/baremetal/nodes/new/spec': 'new',
    '/elsewhere': 'old',
  });
});

const header = JSON.stringify({
  format: 'bamel-backup',
  version: 1,
  revision: 3,
  at: '2026-01-01T00:00:00Z',
  keys: 2,
});
const line = (key: string) => JSON.stringify({ key, value: '1' });
test.each([
  ['nothing', [], 'line 1: the file is empty'],
  ['something else', ['hello'], 'line 1: not JSON; is this a file made by bamel backup?'],
  ['a newer format', [header.replace('"version":1', '"version":2')], 'line 1: version: '],
  ['half a line', [header, line('/baremetal/a'), '{"key":"/bare'], 'line 3: not JSON; the file is damaged'],
  ['a value that is no text', [header, '{"key":"/baremetal/a","value":1}'], 'line 2: value: '],
  ['a key that is not ours', [header, line('/registry/secrets')], 'line 2: key: '],
  [
    'a key twice',
    [header, line('/baremetal/a'), line('/baremetal/a')],
    'line 3: /baremetal/a is there twice',
  ],
  ['too few keys', [header, line('/baremetal/a')], 'line 2: the file ends after 1 of 2 keys'],
])('a file with %s is refused before anything is written', async (_name, lines, message) => {
  const store = await openStore('embedded:');
  await expect(restore(store, lines)).rejects.toThrow(message);
  expect((await store.list('/')).entries).toEqual([]);
  await store.close();
});

test('a damaged file: exit code 1, and the line is named', async () => {
  writeFileSync(at('bad'), `${header}\n${line('/baremetal/a')}\n{"key":"/bare\n`);
  const { code, stderr } = await runBamel(['restore', '-f', at('bad'), '--store', `embedded:${at('to.db')}`]);
  expect(stderr).toBe('bamel restore: line 3: not JSON; the file is damaged\n');
  expect(code).toBe(1);
});

describeWith(['etcd'], 'with etcd', () => {
  test('embedded → etcd → embedded is byte for byte the same', async () => {
    const etcd = closing(await startEtcd());
    const urls = [
      `embedded:${at('from.db')}`,
      `etcd://127.0.0.1:${etcd.members[0]?.port}`,
      `embedded:${at('to.db')}`,
    ];
    await fill(urls[0] ?? '');
    for (const [index, url] of urls.entries()) {
      if (index > 0)
        expect(await runBamel(['restore', '-f', at(`${index - 1}`), '--store', url])).toMatchObject({
          code: 0,
        });
      expect(await runBamel(['backup', '-o', at(`${index}`), '--store', url])).toMatchObject({
        code: 0,
        stderr: '',
      });
    }
    expect(linesOf('0')).toHaveLength(255);
    expect(withoutHeader('1')).toEqual(withoutHeader('0'));
    expect(withoutHeader('2')).toEqual(withoutHeader('0'));
  });
});
