// Bundles the functions, the host, the command and the sensor, and writes what installs the host into a cluster:
// `build.ts [--out FOLDER]`.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { bundleAll, bundleSensor } from './build/bundle.ts';
import { installManifests } from './generate/install/manifest.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out ? resolve(values.out) : fileURLToPath(new URL('../dist', import.meta.url));

await mkdir(out, { recursive: true });
await Promise.all([bundleAll(out), bundleSensor(out)]);
await promisify(execFile)(process.execPath, [join(out, 'warm.mjs')]);
for (const [file, text] of Object.entries(installManifests())) await writeFile(join(out, file), text);
console.log(`built into ${out}: node ${out}/host.mjs, node ${out}/function.mjs NAME, node ${out}/bamel.mjs`);
