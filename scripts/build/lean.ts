import http from 'node:http';
import type { Plugin } from 'esbuild';

/** Node.js reads every export of a built-in that is imported, and some load a whole HTTP client when read. */
const plainExports = Object.entries(Object.getOwnPropertyDescriptors(http))
  .filter(([name, { get }]) => !get && /^\w+$/.test(name))
  .map(([name]) => name);

/** Less to do at every start: a third of it was for what no function uses. */
export const lean: Plugin = {
  name: 'lean',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'node:http', namespace: 'plain' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'plain' }, () => ({
      contents: `const http = process.getBuiltinModule('node:http');\nexport const { ${plainExports.join(', ')} } = http;\nexport default http;\n`,
    }));
    // Messages are in English.
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';\n",
    }));
  },
};
