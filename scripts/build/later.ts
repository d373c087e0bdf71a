import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';

/** Large packages that most starts do without, each in a file of its own. */
const files: Readonly<Record<string, string>> = {
  '@kubernetes/client-node': 'later/client-node.cjs',
  etcd3: 'later/etcd3.cjs',
  'net-snmp': 'later/net-snmp.cjs',
  'prom-client': 'later/prom-client.cjs',
  // The account of a pod needs none, nor do custom resources.
  yaml: 'later/yaml.cjs',
};

/** Loads them from there when used: also from a snapshot, where there is neither `import()` nor a way to files. */
export const later: Plugin = {
  name: 'later',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[@\w]/ }, ({ path, kind }) => {
      const file = kind === 'entry-point' ? undefined : files[path];
      return file === undefined ? undefined : { path: `./${file}`, namespace: 'later' };
    });
    onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => ({
      contents: `
        const { createRequire } = process.getBuiltinModule('node:module');
        const { resolve } = process.getBuiltinModule('node:path');
        const { isSea } = process.getBuiltinModule('node:sea');
        module.exports = createRequire(isSea() ? process.execPath : resolve(process.argv[1]))(${JSON.stringify(path)});`,
    }));
  },
};

let built: Promise<readonly OutputFile[]> | undefined;

/** The files themselves, which are the same for every function; how many bytes they are. */
export async function writeLater(folder: string, options: BuildOptions): Promise<number> {
  built ??= bundle(options);
  const outputs = await built;
  for (const { path, contents } of outputs) {
    const file = join(folder, 'later', basename(path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  return outputs.reduce((bytes, { contents }) => bytes + contents.length, 0);
}

async function bundle(options: BuildOptions): Promise<readonly OutputFile[]> {
  const entryPoints = Object.entries(files).map(([name, file]) => ({
    in: name,
    out: basename(file, '.cjs'),
  }));
  const { outputFiles } = await build({
    ...options,
    entryPoints,
    write: false,
    outdir: 'later',
    sourcemap: false,
  });
  return outputFiles ?? [];
}
