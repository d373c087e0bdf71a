import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Where finished binaries of the real peers are kept (built by test/real/stack). */
export const binariesFolder = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'bamel-autoscaler',
  'bin',
);

/** The full path of a program: KUBEBUILDER_ASSETS, then our cache, then PATH. */
export function findProgram(name: string): string | undefined {
  const folders = [
    process.env.KUBEBUILDER_ASSETS,
    binariesFolder,
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return folders
    .filter((folder) => folder !== undefined && folder !== '')
    .map((folder) => join(folder as string, name))
    .find((path) => existsSync(path));
}

/**
 * A describe that needs programs which may be missing. Missing: the tests are listed as skipped with the
 * reason; with BAMEL_REQUIRE_PROGRAMS set (CI) they run and fail instead.
 */
export function describeWith(programs: string[], name: string, body: () => void): void {
  const missing = programs.filter((program) => findProgram(program) === undefined);
  if (missing.length === 0 || process.env.BAMEL_REQUIRE_PROGRAMS) {
    describe(name, body);
    return;
  }
  // biome-ignore lint/suspicious/noSkippedTests: the one place that skips, always with a reason
  describe.skip(`${name} (skipped: ${missing.join(' and ')} not found; npm run test:real builds it)`, body);
}
