import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export interface RunningBundle {
  /** Of one that serves gRPC: its address and port. */
  readonly url: string;
  /** What it said so far. */
  readonly lines: readonly string[];
  /** SIGTERM; the exit code or the signal it ended with. */
  stop(): Promise<string>;
  remove(): Promise<void>;
}

/** Runs a program in a copy of what was built, with nothing of the project near it nor in its environment. */
export async function runBundle(
  dist: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<RunningBundle> {
  const alone = await mkdtemp(join(tmpdir(), 'bamel-bundle-'));
  await cp(dist, alone, { recursive: true });
  const child = spawn(process.execPath, args, {
    cwd: alone,
    env: { PATH: dirname(process.execPath), PORT: '0', LOG_FORMAT: 'json', HOME: alone, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // One that neither listens nor ends: within a test's time, so that its lines are shown.
    timeout: 25_000,
    killSignal: 'SIGKILL',
  });
  const lines: string[] = [];
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line);
      const [, url, port] = /"url":"([^"]+)"|"port":(\d+)/.exec(line) ?? [];
      if (url ?? port) listening.resolve(url ?? `127.0.0.1:${port}`);
    });
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => String(signal ?? code));
  const running = {
    lines,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async remove() {
      child.kill('SIGKILL');
      await ended;
      await rm(alone, { recursive: true, force: true });
    },
  };
  const url = await Promise.race([listening.promise, ended.then(() => undefined)]);
  if (url !== undefined) return { ...running, url };
  await running.remove();
  throw new Error(`the bundle ended before it listened:\n${lines.join('\n')}`);
}
