import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'console');
const copied = ['index.html', 'icon.svg'];

async function bundle(): Promise<{ files: Map<string, Uint8Array>; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: 'console/main.tsx', out: 'main' },
      { in: 'console/style/main.css', out: 'main' },
    ],
    outdir: folder,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2024',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const files = await Promise.all(
    copied.map(async (name): Promise<[string, Uint8Array]> => [name, await readFile(join(folder, name))]),
  );
  return {
    files: new Map([
      ...files,
      ...outputFiles.map(({ path, contents }) => [basename(path), contents] as const),
    ]),
    metafile,
  };
}

/** The console's files, in memory. */
export const bundleConsole = async (): Promise<ReadonlyMap<string, Uint8Array>> => (await bundle()).files;

/** Writes them to where what was built looks for them. */
export async function writeConsole(out: string): Promise<Metafile> {
  await mkdir(out, { recursive: true });
  const { files, metafile } = await bundle();
  for (const [name, contents] of files) await writeFile(join(out, name), contents);
  return metafile;
}
