import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const shim = fileURLToPath(new URL('../../cli/bamel.js', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real command in a process of its own, with nothing of ours in its environment but what is given. */
export function runBamel(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  timeoutMs = 20_000,
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env }, timeout: timeoutMs, maxBuffer: 2 ** 26 };
    const child = execFile(process.execPath, [shim, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
