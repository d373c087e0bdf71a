import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const funcProjects = fileURLToPath(new URL('../../knative/func', import.meta.url));
const warm = fileURLToPath(new URL('./warm.mjs', import.meta.url));

/** Parsers that zod would compile are worth it for many events, not for the first one. */
const withoutCompiling = 'globalThis.__zod_globalConfig = { jitless: true };\n';

/** What starts a bundle. Compiled code is kept beside it, by relative path, so that the folder may be moved. */
const launcher = (isFunction: boolean) => `import { enableCompileCache } from 'node:module';
enableCompileCache({ directory: import.meta.dirname + '/cache', portable: true });
${isFunction ? withoutCompiling : ''}await import('./main.mjs');
`;

export async function writeLauncher(folder: string, isFunction: boolean): Promise<void> {
  await writeFile(join(folder, 'index.mjs'), launcher(isFunction));
}

/** What `func deploy` looks for in a function's folder. */
export async function writeProject(folder: string, name: string): Promise<void> {
  const project = {
    name: `bamel-${name}`,
    private: true,
    type: 'module',
    engines: { node: '>=26' },
    scripts: { start: 'node index.mjs' },
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(project, null, 2)}\n`);
  await cp(join(funcProjects, name, 'func.yaml'), join(folder, 'func.yaml'));
}

export async function warmFunction(folder: string): Promise<void> {
  await cp(warm, join(folder, 'warm.mjs'));
  await run(process.execPath, ['warm.mjs'], { cwd: folder });
}
