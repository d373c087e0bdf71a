// Builds the files of a release that need no container engine: `npm run release:files -- --out FOLDER`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changesOf } from './release/changelog.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) {
  console.error('usage: npm run release:files -- --out FOLDER');
  process.exit(2);
}
const out = resolve(values.out);
const dist = join(root, 'dist');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'CHANGES.md'), changesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version));
execFileSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'inherit' });
for (const manifest of ['install.yaml', 'install-ha.yaml']) cpSync(join(dist, manifest), join(out, manifest));
// The host, the functions, the sensor and the bamel command, which share their code.
execFileSync('tar', [
  '-czf',
  join(out, `bamel-${version}.tar.gz`),
  '--transform',
  `s,^\\.,bamel-${version},`,
  '-C',
  dist,
  '.',
]);
// Development packages are listed too, as optional: the console is bundled from some. (`--omit dev` also leaves out
// packages that both kinds depend on.)
const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
});
writeFileSync(join(out, `bamel-${version}.cdx.json`), sbom);
console.log(`release files of ${version} are in ${out}`);
