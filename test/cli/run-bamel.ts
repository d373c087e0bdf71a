import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const shim = fileURLToPath(new URL('../../cli/bamel.js', import.meta.url));
const builder = new URL('../../scripts/build/build-bundle.ts', import.meta.url).href;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real command in a process of its own, with nothing of ours in its environment but what is given. */
export const runBamel = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeoutMs = 20_000,
): Promise<Ran> => runProgram(process.execPath, [shim, ...args], env, timeoutMs);

export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeoutMs = 60_000,
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env }, timeout: timeoutMs, maxBuffer: 2 ** 26 };
    const child = execFile(program, [...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

export interface BuiltBamel {
  readonly program: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  remove(): Promise<void>;
}

/** The command as it is shipped. Bundled by another process: esbuild does not run inside Jest's sandbox. */
export async function buildBamel(): Promise<BuiltBamel> {
  const out = await mkdtemp(join(tmpdir(), 'bamel-built-'));
  const script = `const { buildBundle } = await import(${JSON.stringify(builder)});
    await buildBundle({ folder: 'bamel', entry: 'cli/main.ts' }, ${JSON.stringify(out)});`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const program = join(out, 'bamel/index.mjs');
  return {
    program,
    run: (args, env = {}) => runProgram(process.execPath, [program, ...args], env, 120_000),
    remove: () => rm(out, { recursive: true, force: true }),
  };
}
