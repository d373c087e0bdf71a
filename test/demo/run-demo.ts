import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A line of its log. */
export interface Said {
  readonly level: string;
  readonly msg: string;
  readonly step?: string;
  readonly text?: string;
  readonly machine?: string;
  readonly url?: string;
}

export interface Demo {
  said(): readonly Said[];
  get(path: string): Promise<Response>;
  kill(): Promise<void>;
}

/** A demo in a process of its own, with nothing in its environment. */
export function startDemo(program: string, args: readonly string[]): Demo {
  const child = spawn(process.execPath, [program, '--port', '0', '--log-format', 'json', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  const lines: Said[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) =>
      lines.push(line.startsWith('{') ? JSON.parse(line) : { level: 'error', msg: line }),
    );
  return {
    said: () => lines,
    async get(path) {
      const url = lines.find((line) => line.url !== undefined)?.url;
      if (url === undefined) throw new Error(`it does not listen: ${JSON.stringify(lines)}`);
      return fetch(`${url}${path}`);
    },
    async kill() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
