import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectCopy } from './copy.ts';

const copy = projectCopy();
afterAll(() => rmSync(copy.folder, { recursive: true, force: true }));

const run = (...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: copy.folder,
    encoding: 'utf8',
    // Of Jest's, which node would warn about.
    env: { ...process.env, NODE_OPTIONS: '' },
  });

const release = (...args: string[]) => run('scripts/release.ts', ...args);

const changed = (): string[] =>
  copy
    .git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));

test('a tree with uncommitted files is refused, and named', () => {
  writeFileSync(join(copy.folder, 'forgotten.txt'), '');
  const { status, stderr } = release('77.0.0');
  expect(status).toBe(1);
  expect(stderr).toContain('forgotten.txt');
  expect(changed()).toEqual(['forgotten.txt']);
  rmSync(join(copy.folder, 'forgotten.txt'));
});

test.each([[[]], [['1.0']], [['0.0.1']], [['77.0.0', '--date', 'today']]])(
  'refused, with nothing changed: %p',
  (args) => {
    expect(release(...args).status).not.toBe(0);
    expect(changed()).toEqual([]);
  },
);

test('the version is set everywhere, and the changelog has a section for it', () => {
  const [before = ''] =
    /^## \[Unreleased\]\n[\s\S]*?(?=\n## \[|$(?![\s\S]))/m.exec(copy.read('CHANGELOG.md')) ?? [];
  const { status, stderr } = release('77.0.0', '--date', '2030-01-31');
  expect([status, stderr]).toEqual([0, '']);

  const old = copy.git('show', 'HEAD:package.json');
  expect(JSON.parse(copy.read('package.json'))).toEqual({ ...JSON.parse(old), version: '77.0.0' });
  const lock = JSON.parse(copy.read('package-lock.json'));
  expect([lock.version, lock.packages[''].version]).toEqual(['77.0.0', '77.0.0']);
  expect(copy.read('CHANGELOG.md')).toContain(
    before.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [77.0.0] - 2030-01-31\n'),
  );
  // Images in manifests.
  expect(copy.git('grep', '--files-with-matches', ':77\\.0\\.0').split('\n')).toEqual(
    expect.arrayContaining(['config/manager/host.yaml', 'openfaas/stack.yaml']),
  );
  const { version } = JSON.parse(old) as { version: string };
  const stale = spawnSync('git', ['grep', '--fixed-strings', `bamel-autoscaler:${version}`], {
    cwd: copy.folder,
    encoding: 'utf8',
  });
  expect(stale.stdout).toBe('');
});

test('the files of a release are built', () => {
  const out = join(copy.folder, 'release');
  const { status, stderr } = run('scripts/release-files.ts', '--out', out);
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
  expect(readdirSync(out).sort()).toEqual(
    ['CHANGES.md', 'bamel-77.0.0.cdx.json', 'bamel-77.0.0.tar.gz', 'install-ha.yaml', 'install.yaml'].sort(),
  );
  const sbom = JSON.parse(copy.read('release/bamel-77.0.0.cdx.json'));
  expect(sbom.metadata.component.version).toBe('77.0.0');
  const scopes = new Map(
    sbom.components.map(({ name, scope }: { name: string; scope: string }) => [name, scope]),
  );
  expect(['zod', 'etcd3', 'jest'].map((name) => scopes.get(name))).toEqual([
    'required',
    'required',
    'optional',
  ]);
  expect(copy.read('release/install.yaml')).toContain('bamel-autoscaler:77.0.0');
  // The command runs from the archive.
  execFileSync('tar', ['-xzf', join(out, 'bamel-77.0.0.tar.gz'), '-C', out]);
  expect(run('release/bamel-77.0.0/bamel.mjs', 'version').stdout).toContain('77.0.0');
});

test('the same version cannot be released twice, nor one without entries', () => {
  copy.commit();
  expect(release('77.0.0').stderr).toContain('not later');
  expect(release('77.1.0').stderr).toContain('no entry');
  expect(changed()).toEqual([]);
});
