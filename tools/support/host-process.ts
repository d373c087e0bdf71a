import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { ConfigInput } from '../../shared/schema/config.ts';
import type { InventoryEntry } from '../../simulator/lab/lab.ts';

const main = fileURLToPath(new URL('../../apps/main.ts', import.meta.url));

export interface HostFiles {
  readonly folder: string;
  readonly config: string;
  readonly kubeconfig: string;
  readonly credentials: string;
  remove(): Promise<void>;
}

/** What a person would have written down for a host: its config, kubeconfig and BMC credentials. */
export async function writeHostFiles(
  config: ConfigInput,
  kubeconfig: string,
  inventory: readonly InventoryEntry[],
): Promise<HostFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'bamel-host-'));
  const files = {
    folder,
    config: join(folder, 'bamel.yaml'),
    kubeconfig: join(folder, 'kubeconfig'),
    credentials: join(folder, 'credentials'),
  };
  await writeFile(files.config, stringify(config));
  await writeFile(files.kubeconfig, kubeconfig);
  for (const { name, credentials } of inventory) {
    await mkdir(join(files.credentials, name), { recursive: true });
    await writeFile(join(files.credentials, name, 'username'), credentials.user);
    await writeFile(join(files.credentials, name, 'password'), credentials.password);
  }
  return { ...files, remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface HostProcess {
  readonly url: string;
  readonly pid: number;
  /** What it said, as JSON lines. */
  readonly lines: readonly string[];
  /** The signal or the exit code it ended with. */
  readonly ended: Promise<string>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** Stopped by SIGSTOP. */
  standsStill(): boolean;
}

export interface HostOptions {
  readonly failpoint?: string;
  readonly tick?: string;
  readonly logLevel?: string;
  /** More flags. */
  readonly args?: readonly string[];
  /** Of Node.js itself. */
  readonly nodeArgs?: readonly string[];
}

/** The host as a process of its own, so that it can be killed. Resolves once it listens or has ended. */
export async function startHostProcess(
  files: HostFiles,
  store: string,
  options: HostOptions = {},
): Promise<HostProcess> {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      ...(options.nodeArgs ?? []),
      main,
      ...['--config', files.config],
      ...['--kubeconfig', files.kubeconfig],
      ...['--credentials-dir', files.credentials],
      ...['--store', store],
      ...['--port', '0'],
      ...['--tick', options.tick ?? '500ms'],
      ...['--log-format', 'json', '--log-level', options.logLevel ?? 'debug'],
      ...(options.args ?? []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...(options.failpoint && { BAMEL_FAILPOINT: options.failpoint }) },
    },
  );
  const lines: string[] = [];
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    if (stream)
      createInterface(stream).on('line', (line) => {
        lines.push(line);
        const url = /"url":"([^"]+)"/.exec(line)?.[1];
        if (url && line.includes('"msg":"listening"')) listening.resolve(url);
      });
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => String(signal ?? code));
  const url = await Promise.race([listening.promise, ended.then(() => '')]);
  return {
    url,
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    standsStill: () =>
      execFileSync('ps', ['-o', 'stat=', '-p', String(child.pid)], { encoding: 'utf8' }).startsWith('T'),
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
