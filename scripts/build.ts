// Bundles every function, the host and the command, each into a folder that runs alone, and writes what installs the
// host into a cluster: `build.ts [--out FOLDER]`.
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildBundle } from './build/build-bundle.ts';
import { bundles } from './build/bundles.ts';
import { installManifests } from './generate/install/manifest.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out ? resolve(values.out) : fileURLToPath(new URL('../dist', import.meta.url));
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const queue = bundles.values();
const buildThem = async (): Promise<void> => {
  for (const bundle of queue) {
    const { folder, startBytes, allBytes } = await buildBundle(bundle, out);
    console.log(
      `${folder.padEnd(28)} ${megabytes(startBytes)} at start, ${megabytes(allBytes - startBytes)} when used`,
    );
  }
};
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, buildThem));
for (const [file, text] of Object.entries(installManifests())) await writeFile(join(out, file), text);
console.log(`built into ${out}; any folder runs alone: node ${out}/host/index.mjs`);
