import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const build = new URL('../../scripts/build/', import.meta.url).href;

export interface BuiltFolder {
  readonly folder: string;
  readonly program: string;
  remove(): Promise<void>;
}

/** One folder of dist/, as it is shipped. Bundled by another process: esbuild does not run inside Jest's sandbox. */
export async function buildFolder(name: string): Promise<BuiltFolder> {
  const out = await mkdtemp(join(tmpdir(), 'bamel-built-'));
  const script = `const { buildBundle } = await import('${build}build-bundle.ts');
    const { bundles } = await import('${build}bundles.ts');
    await buildBundle(bundles.find(({ folder }) => folder === '${name}'), '${out}');`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const folder = join(out, name);
  return {
    folder,
    program: join(folder, 'index.mjs'),
    remove: () => rm(out, { recursive: true, force: true }),
  };
}
