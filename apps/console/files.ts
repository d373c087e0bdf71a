import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** The console's files by name. */
export type ConsoleFiles = ReadonlyMap<string, Uint8Array>;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const consoleFileNames = ['index.html', 'main.js', 'main.css', 'icon.svg'] as const;

export const typeOf = (name: string): string => contentTypes[extname(name)] ?? 'application/octet-stream';

/** As the build left them beside its own code; from source they are made now. */
export async function loadConsole(): Promise<ConsoleFiles> {
  for (const folder of ['console', '../console']) {
    const built = await readBuilt(join(import.meta.dirname, folder));
    if (built) return built;
  }
  // Not a literal, so that the host's own bundle does not take the bundler in.
  const bundler = new URL('../../scripts/build/console.ts', import.meta.url).href;
  const { bundleConsole }: { bundleConsole(): Promise<ConsoleFiles> } = await import(bundler);
  return bundleConsole();
}

async function readBuilt(folder: string): Promise<ConsoleFiles | undefined> {
  try {
    return new Map(
      await Promise.all(
        consoleFileNames.map(async (name) => [name, await readFile(join(folder, name))] as const),
      ),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
