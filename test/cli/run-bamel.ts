import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildFolder } from '../../tools/support/build-folder.ts';

const shim = fileURLToPath(new URL('../../cli/bamel.js', import.meta.url));

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

/** The command as it is shipped. */
export async function buildBamel(): Promise<BuiltBamel> {
  const built = await buildFolder();
  const program = built.program('bamel');
  return {
    program,
    run: (args, env = {}) => runProgram(process.execPath, [program, ...args], env, 120_000),
    remove: built.remove,
  };
}
