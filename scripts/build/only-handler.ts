import type { Plugin } from 'esbuild';

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
  },
});
