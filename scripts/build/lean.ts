import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/** Packages (CommonJS) that a process can answer without, at least at first. */
const packages = ['yaml', 'prom-client'];

const isBuiltin = (path: string): boolean => process.getBuiltinModule(path) !== undefined;

/** A module that loads the one meant when something of it is read; undefined where that cannot be put off. */
function whenUsed(path: string): string | undefined {
  const load = isBuiltin(path) ? `process.getBuiltinModule('${path}')` : `require('${path}')`;
  const meant: unknown = isBuiltin(path) ? process.getBuiltinModule(path) : require(path);
  if (typeof meant !== 'object' || meant === null) return undefined;
  // Whoever imports a module copies its own properties, often hundreds, but not those of its prototype.
  return `const get = (_, name) => (name === '__esModule' ? false : ${load}[name]);
module.exports = Object.create(new Proxy({}, { get }));`;
}

/** Less to do at every start: Node.js loads all that is imported, used or not. */
export const lean: Plugin = {
  name: 'lean',
  setup(build) {
    build.onResolve({ filter: /^[\w:/-]+$/ }, ({ path, kind, namespace }) => {
      if (namespace === 'when-used' || kind === 'dynamic-import' || kind === 'entry-point') return undefined;
      const canWait = isBuiltin(path) || packages.includes(path);
      return canWait && whenUsed(path) ? { path, namespace: 'when-used' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'when-used' }, ({ path }) => ({
      contents: whenUsed(path) ?? '',
      resolveDir: import.meta.dirname,
    }));
    // As a namespace of its own, what nobody uses of zod is left out.
    build.onLoad({ filter: /(shared|functions)\/.*\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(
        "import { z } from 'zod';",
        "import * as z from 'zod';",
      ),
      loader: 'ts',
    }));
    // Who makes a log is asked for those who have others write it; to find that out takes as long as all the rest of it.
    build.onLoad({ filter: /pino\/lib\/caller\.js$/ }, () => ({ contents: 'module.exports = () => [];' }));
    // Messages are in English.
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';\n",
    }));
  },
};
