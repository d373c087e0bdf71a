// Sets the version in package.json, the lock file, the generated manifests and the changelog:
// `npm run release -- VERSION [--date YYYY-MM-DD]`. Commits nothing.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { released } from './release/changelog.ts';
import { requireLater } from './release/version.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');
const asJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

interface Lock {
  version: string;
  packages: { '': { version: string } };
}

function release(version: string, date: string): void {
  const uncommitted = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (uncommitted !== '') throw new Error(`commit or stash these files first:\n${uncommitted.trimEnd()}`);
  const project = JSON.parse(read('package.json')) as { version: string };
  requireLater(version, project.version);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new Error(`"${date}" is not a date such as 2026-01-31`);
  const changelog = released(read('CHANGELOG.md'), version, date);

  const lock = JSON.parse(read('package-lock.json')) as Lock;
  lock.version = version;
  lock.packages[''].version = version;
  writeFileSync(`${root}package.json`, asJson({ ...project, version }));
  writeFileSync(`${root}package-lock.json`, asJson(lock));
  writeFileSync(`${root}CHANGELOG.md`, changelog);
  // In a process of its own: the generators read the version when they are loaded.
  execFileSync(process.execPath, ['scripts/generate.ts'], { cwd: root, stdio: 'inherit' });
  console.log(`version ${version} is set. Next:
  git commit -am "Release ${version}"
  git tag v${version}
  git push origin HEAD v${version}`);
}

const { values, positionals } = parseArgs({ options: { date: { type: 'string' } }, allowPositionals: true });
const [version] = positionals;
if (version === undefined || positionals.length > 1) {
  console.error('usage: npm run release -- VERSION [--date YYYY-MM-DD]');
  process.exit(2);
}
try {
  release(version, values.date ?? new Date().toISOString().slice(0, 10));
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exit(1);
}
