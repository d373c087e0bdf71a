import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../../console', import.meta.url));
const copied = ['index.html', 'icon.svg'];

/** The console's files, in memory. */
export async function bundleConsole(): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [
      { in: 'main.tsx', out: 'main' },
      { in: 'style/main.css', out: 'main' },
    ],
    outdir: folder,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const files = await Promise.all(
    copied.map(async (name): Promise<[string, Uint8Array]> => [name, await readFile(join(folder, name))]),
  );
  return new Map([...files, ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const)]);
}

/** Writes them to where what was built looks for them. */
export async function writeConsole(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  for (const [name, contents] of await bundleConsole()) await writeFile(join(out, name), contents);
}
