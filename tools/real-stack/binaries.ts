import { spawn } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binariesFolder, cachedPath, findProgram } from '../support/programs.ts';
import { withLock } from './lock.ts';
import { groupOf, type ProgramGroup, programGroups } from './table.ts';

const modules = fileURLToPath(new URL('./modules/', import.meta.url));

type Progress = (line: string) => void;
const toStandardError: Progress = (line) => process.stderr.write(`${line}\n`);

/** Full paths of the programs, by name; what is not on this machine is built and kept (minutes, once). */
export async function ensureBinaries<Name extends string>(
  names: readonly Name[],
  progress: Progress = toStandardError,
): Promise<Record<Name, string>> {
  if (names.some((name) => findProgram(name) === undefined))
    await withLock(
      join(binariesFolder(), 'build.lock'),
      () => progress('waiting for another process that is building …'),
      () => buildMissing(names, progress),
    );
  return Object.fromEntries(names.map((name) => [name, findProgram(name)])) as Record<Name, string>;
}

async function buildMissing(names: readonly string[], progress: Progress): Promise<void> {
  // Looked up again: whoever held the lock may have built it.
  for (const name of names.filter((name) => findProgram(name) === undefined)) {
    const group = groupOf(name);
    const known = programGroups.flatMap(({ programs }) => Object.keys(programs)).join(', ');
    if (!group)
      throw new Error(`${name} is neither on this machine nor one that can be built here (${known})`);
    progress(`building ${name} ${group.version} (about ${group.firstBuild} the first time) …`);
    const started = performance.now();
    await build(name, group, progress);
    progress(`built ${name} ${group.version} in ${Math.round((performance.now() - started) / 1000)} s`);
  }
}

async function build(name: string, group: ProgramGroup, progress: Progress): Promise<void> {
  const target = cachedPath(name, group);
  const unfinished = `${target}.${process.pid}.unfinished`;
  mkdirSync(dirname(target), { recursive: true });
  const ldflags = ['-s -w', ...(group.ldflags ?? [])].join(' ');
  await go(
    [
      'build',
      ...(group.tags ? ['-tags', group.tags] : []),
      ...['-ldflags', ldflags, '-o', unfinished, group.programs[name] ?? name],
    ],
    join(modules, group.name),
    progress,
  );
  renameSync(unfinished, target);
}

function go(args: readonly string[], cwd: string, progress: Progress): Promise<void> {
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    GOFLAGS: '-mod=readonly -trimpath -buildvcs=false',
  };
  const started = performance.now();
  const stillAtIt = setInterval(
    () => progress(`… still building after ${Math.round((performance.now() - started) / 1000)} s`),
    60_000,
  );
  return new Promise<void>((resolve, reject) => {
    const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors = (errors + chunk).slice(-4000);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new Error(
              'Go is needed to build the real servers and was not found. Install Go 1.26 or later (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder with the programs.',
            )
          : error,
      ),
    );
    child.on('close', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`go ${args.join(' ')} (in ${cwd}) ended with ${code}:\n${errors}`)),
    );
  }).finally(() => clearInterval(stillAtIt));
}
