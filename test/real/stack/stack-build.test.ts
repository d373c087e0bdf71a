import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBinaries } from '../../../tools/real-stack/binaries.ts';
import { withLock } from '../../../tools/real-stack/lock.ts';
import { programGroups } from '../../../tools/real-stack/table.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { newFolder } from '../../support/cleanup.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

test.each(programGroups)('the module of $name requires the version that the table names', (group) => {
  const goMod = readFileSync(
    new URL(`../../../tools/real-stack/modules/${group.name}/go.mod`, import.meta.url),
    'utf8',
  );
  expect(goMod).toContain(`\t${group.module} ${group.version} `);
  for (const built of Object.values(group.programs)) expect(goMod).toContain(built);
});

describe('what cannot be had', () => {
  const before = { ...process.env };
  beforeEach(() => {
    Object.assign(process.env, { PATH: folder, XDG_CACHE_HOME: folder, KUBEBUILDER_ASSETS: folder });
  });
  afterEach(() => {
    for (const name of ['PATH', 'XDG_CACHE_HOME', 'KUBEBUILDER_ASSETS'])
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
  });

  test('without Go the error says what to install', async () => {
    const lines: string[] = [];
    const building = ensureBinaries(['etcd'], (line) => lines.push(line));
    await expect(building).rejects.toThrow('Install Go 1.26');
    expect(lines).toEqual(['building etcd v3.6.14 (about 2 min the first time) …']);
  });

  test('a program nobody knows how to build is named', async () => {
    await expect(ensureBinaries(['frobnicator'], () => undefined)).rejects.toThrow('frobnicator is neither');
  });
});

describe('the build lock', () => {
  test('one at a time, the other is told that it waits', async () => {
    const file = join(folder, 'lock');
    const events: string[] = [];
    const release = Promise.withResolvers<void>();
    const first = withLock(
      file,
      () => events.push('first waits'),
      async () => {
        events.push('first in');
        await release.promise;
        events.push('first out');
      },
    );
    const second = withLock(
      file,
      () => events.push('second waits'),
      async () => events.push('second in'),
    );
    await waitFor('the second waits', () => events.includes('second waits') || undefined);
    await sleep(150);
    release.resolve();
    await Promise.all([first, second]);
    expect(events).toEqual(['first in', 'second waits', 'first out', 'second in']);
  });

  test('a killed owner leaves no lock behind', async () => {
    const file = join(folder, 'lock');
    const lock = new URL('../../../tools/real-stack/lock.ts', import.meta.url);
    const script = `import { withLock } from '${lock}';
      await withLock('${file}', () => {}, async () => { console.log('in'); await new Promise((r) => setTimeout(r, 60_000)); });`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(owner.stdout, 'data');
    owner.kill('SIGKILL');
    await expect(
      withLock(
        file,
        () => undefined,
        async () => 'mine',
      ),
    ).resolves.toBe('mine');
  });
});
