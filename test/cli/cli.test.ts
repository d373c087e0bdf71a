import { readFileSync } from 'node:fs';
import { runBamel } from './run-bamel.ts';

const packageJson = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('version prints the version', async () => {
  const { code, stdout } = await runBamel(['version']);
  expect(stdout).toMatch(`bamel ${packageJson.version} (node `);
  expect(code).toBe(0);
  expect((await runBamel(['--version'])).stdout).toBe(stdout);
});

test('--help lists every command with what it does; without a command it is a mistake', async () => {
  const help = await runBamel(['--help']);
  expect(help.code).toBe(0);
  for (const name of ['backup', 'restore', 'version'])
    expect(help.stdout).toMatch(new RegExp(`  ${name} +\\w`));
  const none = await runBamel([]);
  expect([none.code, none.stdout, none.stderr]).toEqual([2, '', help.stdout]);
});

test.each(['backup', 'restore', 'version'])('%s --help shows how it is used', async (name) => {
  const { code, stdout } = await runBamel([name, '--help']);
  expect(stdout).toContain(`bamel ${name}`);
  expect(code).toBe(0);
});

test.each([
  ['an unknown command', ['backpu'], 'there is no command backpu. Did you mean backup?'],
  ['a name that every object has', ['constructor'], 'there is no command constructor'],
  ['no store', ['backup'], 'Set BAMEL_STORE or give --store'],
  ['an unknown option', ['backup', '--stoer', 'x'], 'Did you mean --store?'],
  ['no file', ['restore', '--store', 'embedded:'], 'Give -f FILE'],
])('%s is a mistake in the usage: exit code 2', async (_name, args, message) => {
  const { code, stdout, stderr } = await runBamel(args);
  expect(stderr).toContain(message);
  expect([code, stdout]).toEqual([2, '']);
});

test.each([
  ['a store that is none', ['backup', '--store', 'redis://x'], 'etcd://host:2379'],
  ['a store that is not there', ['backup', '--store', 'embedded:/does/not/exist'], 'does not exist'],
  ['a file that is not there', ['restore', '--store', 'embedded:', '-f', '/does/not/exist'], 'no such file'],
  ['an etcd that does not answer', ['backup', '--store', 'etcd://127.0.0.1:1'], 'etcd: no answer'],
])('%s fails: exit code 1 and no stack trace', async (_name, args, message) => {
  const { code, stdout, stderr } = await runBamel(args);
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect([code, stdout]).toEqual([1, '']);
});
