import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const describing = `    describe(description) {
        const cl = this.clone();
        core.globalRegistry.add(cl, { description });
        return cl;
    },`;

/** Leaves out of a function's bundle what only the host, the command and the documentation need. */
export const onlyHandlerOf = (name: string): Plugin => ({
  name: 'only-handler',
  setup(build) {
    // The rows of other functions are never used, and with them their handlers.
    build.onResolve({ filter: /^\.\/[\w-]+\/handler\.ts$/ }, ({ path, importer }) =>
      importer.endsWith('/functions/index.ts') && path !== `./${name}/handler.ts`
        ? { path, namespace: 'left-out' }
        : undefined,
    );
    // CommonJS: whatever is imported from it is there, and undefined.
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
    // What fields mean is written in the documentation; keeping it makes every schema twice.
    build.onLoad({ filter: /zod\/v4\/classic\/schemas\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes(describing)) throw new Error(`${path}: describe() is written in another way now`);
      return { contents: text.replace(describing, 'describe() { return this; },') };
    });
  },
});
