import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from '../../support/programs.ts';
import { freePorts } from '../ports.ts';
import { launch, makeWorkspace, type Program, untilReady } from '../process.ts';
import { carry } from './knative-carry.ts';

const run = promisify(execFile);
const relayScript = fileURLToPath(new URL('./knative-relay.ts', import.meta.url));

export interface Island {
  readonly logs: string;
  /** Makes a port of 127.0.0.1 out here answer on the same port in there. */
  reach(port: number): Promise<void>;
  /** A port out here on which one of in there answers. */
  publish(port: number): Promise<number>;
  /** Starts a program of the cache in there. `ready` runs out here. */
  start(name: string, env: Readonly<Record<string, string>>, options: StartOptions): Promise<Program>;
  close(): Promise<void>;
}

interface StartOptions {
  /** Its own name among several of the same program. */
  readonly as?: string;
  readonly args?: readonly string[];
  readonly ready: () => Promise<unknown>;
}

let made = 0;

/** Programs of Knative and Liqo listen on all interfaces: here is none but loopback, nobody comes in from outside. */
export async function makeIsland(): Promise<Island> {
  made += 1;
  const namespace = `bamel-kn-${process.pid}-${made}`;
  const workspace = makeWorkspace('knative');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  await run('ip', ['netns', 'add', namespace]);
  cleanup.defer(async () => void (await run('ip', ['netns', 'delete', namespace])));
  await run('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
  const inside = ['netns', 'exec', namespace];

  const relay = spawn('ip', [...inside, process.execPath, relayScript], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const gone = once(relay, 'exit');
  cleanup.defer(async () => {
    relay.stdin.end();
    await gone;
  });
  const answers = createInterface(relay.stdout);
  let last: Promise<unknown> = Promise.resolve();
  const tellRelay = (listen: number | string, connect: number | string): Promise<unknown> => {
    const done = last.then(async () => {
      const answered = once(answers, 'line');
      relay.stdin.write(`${JSON.stringify({ listen, connect })}\n`);
      await Promise.race([
        answered,
        gone.then(() => Promise.reject(new Error('the relay in the network namespace ended'))),
      ]);
    });
    last = done;
    return done;
  };
  let sockets = 0;
  const newSocket = () => {
    sockets += 1;
    return join(workspace.folder, `${sockets}.sock`);
  };
  const reached = new Set<number>();

  const owned = cleanup.move();
  return {
    logs: workspace.logs,
    async reach(port) {
      if (reached.has(port)) return;
      reached.add(port);
      const socket = newSocket();
      const { close } = await carry(socket, port);
      owned.defer(close);
      await tellRelay(port, socket);
    },
    async publish(port) {
      const [outside = 0] = await freePorts(1);
      const socket = newSocket();
      await tellRelay(socket, port);
      const { close } = await carry(outside, socket);
      owned.defer(close);
      return outside;
    },
    async start(name, env, { as = name, args = [], ready }) {
      const path = findProgram(name);
      if (!path) throw new Error(`${name} is not built`);
      const settings = Object.entries(env).map(([key, value]) => `${key}=${value}`);
      const program = launch({
        name: `${as}-${made}`,
        path: 'ip',
        args: [...inside, 'env', '-i', ...settings, path, ...args],
        logs: workspace.logs,
        ready,
      });
      owned.defer(() => program.kill());
      await untilReady(program, ready);
      return program;
    },
    close: () => owned.disposeAsync(),
  };
}
