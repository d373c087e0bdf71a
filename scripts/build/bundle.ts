import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { writeConsole } from './console.ts';
import { sbomOf } from './sbom.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const protoOfEtcd3 = join(dirname(fileURLToPath(import.meta.resolve('etcd3'))), '../proto');

/** The programs of the main bundle. All functions are one program, which is told the name of its function. */
const programs = { host: 'apps/main.ts', function: 'apps/function.ts', bamel: 'cli/main.ts' };

/** An image compiles with its own Node.js, and the sensor has its own image. */
const notInTheImage = ['cache', 'deploy', 'install*.yaml', 'sensor'];

/** Everything but the sensor: the programs, the files that they read, and the settings of a container. */
export async function bundleAll(out: string): Promise<void> {
  const metafile = await bundle(out, programs);
  // etcd3 looks for ../proto from where its code is, which is chunks/.
  await cp(protoOfEtcd3, join(out, 'proto'), { recursive: true });
  const consoleMetafile = await writeConsole(join(out, 'console'));
  await writeFile(join(out, 'sbom.cdx.json'), sbomOf(root, [metafile, consoleMetafile]));
  for (const file of ['main.mjs', 'warm.mjs']) await cp(join(import.meta.dirname, file), join(out, file));
  await writeFile(join(out, '.dockerignore'), `${notInTheImage.join('\n')}\n`);
  const project = {
    name: 'bamel',
    private: true,
    type: 'module',
    engines: { node: '>=26' },
    // For `func deploy`.
    scripts: { start: 'node main.mjs' },
  };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(project, null, 2)}\n`);
}

/** The sensor has its own folder and image: it runs on every node. */
export async function bundleSensor(out: string): Promise<void> {
  const folder = join(out, 'sensor');
  const metafile = await bundle(folder, { index: 'sensor/main.ts' });
  await writeFile(join(folder, 'sbom.cdx.json'), sbomOf(root, [metafile]));
  await writeFile(join(folder, '.dockerignore'), 'cache\n');
}

/** One folder with a `NAME.mjs` for each program and the code that they share, which runs wherever it is copied. */
async function bundle(out: string, entryPoints: Readonly<Record<string, string>>): Promise<Metafile> {
  // Chunks are named after their content: those of an earlier build would stay.
  for (const folder of ['chunks', 'cache']) await rm(join(out, folder), { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: join(out, 'chunks'),
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    // What the sources import dynamically (Kubernetes client, etcd3, drivers, demo) is loaded when used.
    splitting: true,
    // Names stay, for stack traces and metrics.
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
    banner: {
      // CommonJS packages require built-in modules, which ESM has no `require` for.
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    plugins: [plainBuiltins, onlyLogin],
    logLevel: 'warning',
  });
  await mkdir(join(out, 'cache'));
  for (const name of Object.keys(entryPoints)) await writeFile(join(out, `${name}.mjs`), launcher(name));
  return metafile;
}

/**
 * Takes built-in modules by `process.getBuiltinModule`. An `import` of one reads all its exports, used or not: that of
 * node:http loads undici, that of node:fs the streams, together 30 ms of a start.
 */
const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path) ? { path, namespace: 'builtin' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Of client-node the functions use only the login. Its other modules are left out unless they are imported, although its
 * package.json does not allow that, and undici, which its generated client needs, is loaded when used: 35 ms of a start.
 */
const onlyLogin: Plugin = {
  name: 'only-login',
  setup({ onResolve, onLoad }) {
    const isClientNode = (importer: string): boolean => importer.includes('/@kubernetes/client-node/dist/');
    onResolve({ filter: /^\./ }, ({ path, importer }) =>
      isClientNode(importer) ? { path: resolve(dirname(importer), path), sideEffects: false } : undefined,
    );
    onResolve({ filter: /^undici$/ }, ({ importer, namespace }) =>
      isClientNode(importer) && namespace === 'file' ? { path: 'undici', namespace: 'when-used' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'when-used' }, ({ path }) => ({
      // esbuild itself asks for __esModule, at once.
      contents: `const get = (_, name) => (name === '__esModule' ? false : require('${path}')[name]);
        module.exports = Object.create(new Proxy({}, { get }));`,
      resolveDir: root,
    }));
  },
};

/** Compiled code is kept beside the bundle, by relative path, so that the folder may be moved. */
const launcher = (name: string): string => `import { enableCompileCache } from 'node:module';
enableCompileCache({ directory: import.meta.dirname + '/cache', portable: true });
await import('./chunks/${name}.mjs');
`;
