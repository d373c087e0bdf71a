import { cp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import type { Bundle } from './bundles.ts';
import { lean } from './lean.ts';
import { onlyHandlerOf } from './only-handler.ts';
import { warmFunction, writeLauncher, writeProject } from './warm.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const protoOfEtcd3 = join(dirname(fileURLToPath(import.meta.resolve('etcd3'))), '../proto');

export interface BuiltBundle {
  readonly folder: string;
  /** Read and run at every start. */
  readonly startBytes: number;
  /** With what is loaded only when used. */
  readonly allBytes: number;
}

/** One folder with index.mjs and all that it needs but Node.js itself. */
export async function buildBundle({ folder, entry, isFunction }: Bundle, out: string): Promise<BuiltBundle> {
  const outdir = join(out, folder);
  // Chunks are named after their content: those of an earlier build would stay.
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: entry },
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    outExtension: { '.js': '.mjs' },
    // What the sources import lazily (Kubernetes client, etcd, demo) stays lazy.
    splitting: true,
    // Not beside index.mjs: etcd3 looks for ../proto from where its code is.
    chunkNames: 'chunks/[name]-[hash]',
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
    banner: {
      // CommonJS packages require built-in modules, which ESM has no `require` for.
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    // Names stay, for stack traces and metrics.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    plugins: isFunction ? [lean, onlyHandlerOf(basename(folder))] : [lean],
    logLevel: 'warning',
  });
  await cp(protoOfEtcd3, join(outdir, 'proto'), { recursive: true });
  await writeLauncher(outdir, isFunction ?? false);
  if (isFunction) {
    await writeProject(outdir, basename(folder));
    await warmFunction(outdir);
  }
  return { folder, ...sizesOf(metafile.outputs) };
}

function sizesOf(outputs: Metafile['outputs']): Pick<BuiltBundle, 'startBytes' | 'allBytes'> {
  const code = Object.entries(outputs).filter(([file]) => file.endsWith('.mjs'));
  const atStart = new Set(code.filter(([file]) => file.endsWith('/main.mjs')).map(([file]) => file));
  // A set that grows while it is walked is walked to its end.
  for (const file of atStart)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && path in outputs) atStart.add(path);
  const sum = (files: typeof code) => files.reduce((bytes, [, output]) => bytes + output.bytes, 0);
  return { startBytes: sum(code.filter(([file]) => atStart.has(file))), allBytes: sum(code) };
}
