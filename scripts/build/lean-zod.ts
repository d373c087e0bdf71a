import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * What zod keeps for those who look at schemas, which a function does not: it only parses. Whatever is kept is read at
 * every start, and there are a thousand schemas.
 */
const edits: readonly { readonly file: RegExp; readonly from: string | RegExp; readonly to: string }[] = [
  {
    // What fields mean is written in the documentation; keeping it makes every schema twice.
    file: /zod\/v4\/classic\/schemas\.js$/,
    from: `    describe(description) {
        const cl = this.clone();
        core.globalRegistry.add(cl, { description });
        return cl;
    },`,
    to: 'describe() { return this; },',
  },
  {
    // Definitions of custom resources are made elsewhere.
    file: /zod\/v4\/classic\/schemas\.js$/,
    from: /^ *inst\._zod\.processJSONSchema = \(ctx, json, params\) => processors\.\w+\(inst, ctx, json, params\);$/gm,
    to: '',
  },
  {
    // What a schema was made from has the meanings that are not kept.
    file: /zod\/v4\/core\/util\.js$/,
    from: `    if (!def || params?.parent)
        cl._zod.parent = inst;
`,
    to: '',
  },
  {
    // Methods that may be called without their schema are made anew for each one. Ours are called with it.
    file: /zod\/v4\/core\/util\.js$/,
    from: 'defineBound(proto, key, desc.value);',
    to: 'Object.defineProperty(proto, key, { value: desc.value, configurable: true, writable: true });',
  },
];

export const leanZod: Plugin = {
  name: 'lean-zod',
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/(classic\/schemas|core\/util)\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const { from, to } of edits.filter(({ file }) => file.test(path))) {
        const edited = contents.replace(from, to);
        if (edited === contents) throw new Error(`${path}: ${from} is written in another way now`);
        contents = edited;
      }
      return { contents };
    });
  },
};
