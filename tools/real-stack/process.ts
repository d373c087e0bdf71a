import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './wait.ts';

/** A folder for what a running stack needs, and one for its logs, which outlives it when something fails. */
export type Workspace = {
  readonly folder: string;
  readonly logs: string;
  remove(): void;
  /** For a good end; does nothing in a test run, where only scripts/jest.ts knows how it ended. */
  removeLogs(): void;
};

export function makeWorkspace(name: string): Workspace {
  const folder = mkdtempSync(join(tmpdir(), `bamel-${name}-`));
  const keptLogs = process.env.BAMEL_STACK_LOGS;
  if (keptLogs) mkdirSync(keptLogs, { recursive: true });
  const logs = mkdtempSync(join(keptLogs ?? tmpdir(), `bamel-${name}-logs-`));
  const remove = (path: string) => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  return {
    folder,
    logs,
    remove: () => remove(folder),
    removeLogs: () => {
      if (!keptLogs) remove(logs);
    },
  };
}

/** A program that can be killed, frozen and started again with the same arguments. */
export type Program = {
  readonly name: string;
  readonly pid: number;
  readonly alive: boolean;
  /** The end of its log and where the rest is, for error messages. */
  readonly log: string;
  /** SIGKILL; resolves when it is gone. Killing what is gone does nothing. */
  kill(): Promise<void>;
  /** SIGSTOP: it holds its connections and answers nothing. */
  stop(): void;
  cont(): void;
  /** Kills it if needed, starts it again and waits until it is ready. */
  restart(): Promise<void>;
};

export type ProgramOptions = {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly logs: string;
  /** Answers a value other than undefined when the program is ready. */
  readonly ready: () => Promise<unknown>;
};

/** Starts without waiting: whoever starts several registers them for clean-up first, then awaits `untilReady`. */
export function launch(options: ProgramOptions): Program {
  const logFile = join(options.logs, `${options.name}.log`);
  let child = spawnLogged(options, logFile);
  const program: Program = {
    name: options.name,
    get pid() {
      if (child.pid === undefined) throw new Error(`${options.path} could not be started`);
      return child.pid;
    },
    get alive() {
      return isAlive(child);
    },
    get log() {
      return `log: ${logFile}\n${readFileSync(logFile, 'utf8').slice(-2000)}`;
    },
    kill: () => kill(child),
    stop: () => void child.kill('SIGSTOP'),
    cont: () => void child.kill('SIGCONT'),
    async restart() {
      await kill(child);
      child = spawnLogged(options, logFile);
      await untilReady(program, options.ready);
    },
  };
  return program;
}

export async function untilReady(program: Program, ready: ProgramOptions['ready']): Promise<void> {
  try {
    await waitFor(`${program.name} ready`, async () => (program.alive ? ready() : true));
    if (!program.alive) throw new Error(`${program.name} ended before it was ready`);
  } catch (error) {
    await program.kill();
    throw new Error(`${(error as Error).message}\n${program.log}`, { cause: error });
  }
}

const isAlive = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

function spawnLogged(options: ProgramOptions, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const child = spawn(options.path, options.args, { stdio: ['ignore', log, log] });
  closeSync(log);
  // Without a listener a missing program would end the whole test run; `pid` tells about it instead.
  child.on('error', () => undefined);
  dieWithUs(child);
  return child;
}

/**
 * A shell that waits for the end of this process, however it ends, then kills the child: handlers of
 * `process` do not run on SIGKILL, nor at all inside Jest's sandbox.
 */
function dieWithUs(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const guard = spawn('sh', ['-c', 'read -r _; kill -9 "$1"', 'guard', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  child.on('exit', () => guard.kill('SIGKILL'));
}

async function kill(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
