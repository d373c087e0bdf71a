// Bundles the functions, the host, the command and the sensor, and writes what installs them into a cluster:
// `build.ts [--out FOLDER]`. IMG=registry/name:tag names the image in all manifests.
import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { bundleAll, bundleSensor } from './build/bundle.ts';
import { imageOf } from './generate/image.ts';
import { installManifests } from './generate/install/manifest.ts';
import { manifestFiles } from './generate/manifests.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const out = resolve(values.out ?? join(root, 'dist'));

await mkdir(out, { recursive: true });
await Promise.all([bundleAll(out), bundleSensor(out)]);
await promisify(execFile)(process.execPath, [join(out, 'warm.mjs')]);
for (const [file, text] of Object.entries(installManifests())) await writeFile(join(out, file), text);
// The same folders as in the project, with the image of this build.
const deploy = join(out, 'deploy');
await rm(deploy, { recursive: true, force: true });
for (const folder of ['config', 'knative', 'openfaas'])
  await cp(join(root, folder), join(deploy, folder), { recursive: true });
for (const { file, text } of manifestFiles) await writeFile(join(deploy, file), text());
console.log(`built into ${out}: node ${out}/main.mjs [host | bamel | FUNCTION]; manifests for ${imageOf()}`);
