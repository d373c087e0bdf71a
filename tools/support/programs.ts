import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { groupOf, type ProgramGroup } from '../real-stack/table.ts';

/** Where finished binaries of the real peers are kept (built by tools/real-stack). */
export function binariesFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bamel-autoscaler', 'bin');
}

/** The version is part of the path, so that an upgrade builds anew. */
export function cachedPath(program: string, group: ProgramGroup): string {
  return join(binariesFolder(), `${group.name}-${group.version}`, program);
}

/** The full path of a program: KUBEBUILDER_ASSETS, then our cache, then PATH. */
export function findProgram(name: string): string | undefined {
  const group = groupOf(name);
  const inFolder = (folder: string) => join(folder, name);
  return [
    ...[process.env.KUBEBUILDER_ASSETS ?? ''].filter(Boolean).map(inFolder),
    ...(group ? [cachedPath(name, group)] : []),
    ...(process.env.PATH ?? '').split(delimiter).filter(Boolean).map(inFolder),
  ].find((path) => existsSync(path));
}

/**
 * A describe that needs programs which may be missing. Missing: the tests are listed as skipped with the
 * reason; with BAMEL_REQUIRE_PROGRAMS set (CI) they run and fail instead.
 */
export function describeWith(programs: readonly string[], name: string, body: () => void): void {
  const missing = programs.filter((program) => findProgram(program) === undefined);
  if (missing.length === 0 || process.env.BAMEL_REQUIRE_PROGRAMS) {
    describe(name, body);
    return;
  }
  const hint = missing.every((program) => groupOf(program))
    ? '; node scripts/real-stack.ts build builds it'
    : '';
  describe.skip(`${name} (skipped: ${missing.join(' and ')} not found${hint})`, body);
}
