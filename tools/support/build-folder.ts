import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const script = new URL('../../scripts/build/bundle.ts', import.meta.url).href;

export interface BuiltFolder {
  readonly folder: string;
  program(name: 'host' | 'function' | 'bamel'): string;
  remove(): Promise<void>;
}

/** What is in dist/, with nothing compiled. Bundled by another process: esbuild does not run inside Jest's sandbox. */
export async function buildFolder(): Promise<BuiltFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'bamel-built-'));
  const bundle = `const { bundleAll, bundleSensor } = await import('${script}');
    await Promise.all([bundleAll('${folder}'), bundleSensor('${folder}')]);`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', bundle]);
  return {
    folder,
    program: (name) => join(folder, `${name}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
