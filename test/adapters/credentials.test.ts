import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentialsFromFolder } from '../../shared/adapters/files/credentials.ts';
import { pick } from '../../shared/drivers/common/credentials.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { newFolder } from '../support/cleanup.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

function write(name: string, files: Record<string, string>): void {
  mkdirSync(join(folder, name), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text);
}

async function refusal(name: string, from: string | undefined = folder): Promise<string> {
  const error = await credentialsFromFolder(from)(name).catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(PowerError);
  // A person must mend it: more tries would not help.
  expect(error).toMatchObject({ code: 'config', final: true });
  return (error as PowerError).message;
}

test('two files in a folder of that name, without the end of line that editors add', async () => {
  write('tower-bmc', { username: 'root\n', password: ' s3cret \r\n' });
  expect(await credentialsFromFolder(folder)('tower-bmc')).toEqual({
    username: 'root',
    password: ' s3cret ',
  });
});

test('changed credentials are used without a restart', async () => {
  const credentials = credentialsFromFolder(folder);
  write('bmc', { username: 'root', password: 'old' });
  expect((await credentials('bmc')).password).toBe('old');
  write('bmc', { password: 'new' });
  expect((await credentials('bmc')).password).toBe('new');
});

test('missing ones say where they were looked for', async () => {
  expect(await refusal('nobody')).toBe(`credentials nobody cannot be read from ${join(folder, 'nobody')}`);
});

test('what a driver does not find in them is named', async () => {
  write('bmc', { username: 'root' });
  const found = await credentialsFromFolder(folder)('bmc');
  expect(pick(found, 'bmc', ['username'])).toEqual({ username: 'root' });
  expect(() => pick(found, 'bmc', ['username', 'password'])).toThrow(
    'credentials bmc have no password: add it to the Secret or folder',
  );
});

test('no folder says what to set', async () => {
  const error = await credentialsFromFolder(undefined)('bmc').catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('BAMEL_CREDENTIALS_DIR') });
});

test.each(['../outside', 'a/b', '/etc', '..', '.', '', 'A', 'bmc\0'])(
  '%j is not a name, and nothing is read',
  async (name) => {
    write('outside', { username: 'root', password: 's3cret' });
    const inner = join(folder, 'inner');
    mkdirSync(inner);
    expect(await refusal(name, inner)).toMatch(/is not a name: write that of a Secret$/);
  },
);
