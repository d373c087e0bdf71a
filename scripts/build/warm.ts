import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const funcProjects = fileURLToPath(new URL('../../knative/func', import.meta.url));

/** Parsers that zod would compile are worth it for many events, not for the first one. */
const withoutCompiling = 'globalThis.__zod_globalConfig = { jitless: true };\n';

/** What starts a bundle. Compiled code is kept beside it, by relative path, so that the folder may be moved. */
const launcher = (load: string) => `import { createRequire, enableCompileCache } from 'node:module';
enableCompileCache({ directory: import.meta.dirname + '/cache', portable: true });
${load}
`;

export async function writeLauncher(
  folder: string,
  { isFunction, isQuick }: { readonly isFunction: boolean; readonly isQuick: boolean },
): Promise<void> {
  const load = isQuick ? "createRequire(import.meta.url)('./main.cjs');" : "await import('./main.mjs');";
  await writeFile(join(folder, 'index.mjs'), launcher((isFunction ? withoutCompiling : '') + load));
}

/** Memory is taken in huge pages where Linux has them, and in one piece: thousands of faults less. */
const inHugePages = 'export GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1\n';

/** What an image starts: the executable that warm.mjs has made of it, Node.js with everything loaded. */
const starter = (isQuick: boolean) => `#!/bin/sh
${isQuick ? `${inHugePages}exec "\${0%/*}/function"` : `exec node "\${0%/*}/index.mjs"`} "$@"
`;

export async function writeStarter(folder: string, isQuick: boolean): Promise<void> {
  await writeFile(join(folder, 'start'), starter(isQuick), { mode: 0o755 });
}

/** What `func deploy` looks for in a function's folder. */
export async function writeProject(folder: string, name: string): Promise<void> {
  const project = {
    name: `bamel-${name}`,
    private: true,
    type: 'module',
    engines: { node: '>=26.4' },
    scripts: { start: 'node index.mjs' },
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(project, null, 2)}\n`);
  await cp(join(funcProjects, name, 'func.yaml'), join(folder, 'func.yaml'));
  // It starts index.mjs with a Node.js of its own.
  await writeFile(join(folder, '.funcignore'), '/function\n/start\n');
}

/** What they are for stands in them. */
const helpers = ['warm.mjs', 'stage.cjs'];

export async function warmFunction(folder: string, isQuick: boolean): Promise<void> {
  for (const file of isQuick ? [...helpers, 'snapshot.cjs'] : helpers)
    await cp(join(import.meta.dirname, file), join(folder, file));
  await run(process.execPath, ['warm.mjs'], { cwd: folder });
}
