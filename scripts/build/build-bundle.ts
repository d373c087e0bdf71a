import { cp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import type { Bundle } from './bundles.ts';
import { writeConsole } from './console.ts';
import { later, writeLater } from './later.ts';
import { lean } from './lean.ts';
import { leanZod } from './lean-zod.ts';
import { onlyHandlerOf } from './only-handler.ts';
import { warmFunction, writeLauncher, writeProject, writeStarter } from './warm.ts';

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
export async function buildBundle(
  { folder, entry, isFunction, hasConsole }: Bundle,
  out: string,
): Promise<BuiltBundle> {
  const outdir = join(out, folder);
  const isQuick = isFunction === true && !hasConsole;
  // Chunks are named after their content: those of an earlier build would stay.
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    ...common,
    ...(isQuick ? inOneFile(basename(folder)) : inChunks),
    entryPoints: { main: entry },
    outdir,
    metafile: true,
  });
  const laterBytes = isQuick ? await writeLater(outdir, { ...common, ...inOneFile(basename(folder)) }) : 0;
  await cp(protoOfEtcd3, join(outdir, 'proto'), { recursive: true });
  if (hasConsole) await writeConsole(join(outdir, 'console'));
  await writeLauncher(outdir, { isFunction: isFunction ?? false, isQuick });
  if (isFunction) {
    await writeProject(outdir, basename(folder));
    await writeStarter(outdir, isQuick);
    await warmFunction(outdir, isQuick);
  }
  const { startBytes, allBytes } = sizesOf(metafile.outputs);
  return { folder, startBytes, allBytes: allBytes + laterBytes };
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node26',
  // Names stay, for stack traces and metrics.
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
} as const satisfies BuildOptions;

const inChunks = {
  format: 'esm',
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
  plugins: [lean],
} as const satisfies BuildOptions;

/** All that a function itself is: the only thing that Node.js makes a snapshot of. */
const inOneFile = (name: string): BuildOptions => ({
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // Node.js 26 crashes where that is used while a snapshot is made.
  supported: { using: false },
  // In this order: what is put off by the first is then taken from elsewhere by the second.
  plugins: [lean, later, leanZod, onlyHandlerOf(name)],
});

function sizesOf(outputs: Metafile['outputs']): Pick<BuiltBundle, 'startBytes' | 'allBytes'> {
  const code = Object.entries(outputs).filter(([file]) => /\.[cm]js$/.test(file));
  const atStart = new Set(code.filter(([file]) => /\/main\.[cm]js$/.test(file)).map(([file]) => file));
  // A set that grows while it is walked is walked to its end.
  for (const file of atStart)
    for (const { path, kind } of outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && path in outputs) atStart.add(path);
  const sum = (files: typeof code) => files.reduce((bytes, [, output]) => bytes + output.bytes, 0);
  return { startBytes: sum(code.filter(([file]) => atStart.has(file))), allBytes: sum(code) };
}
