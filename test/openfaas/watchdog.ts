import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';

export interface WatchdogOptions {
  /** What it runs: the built function.mjs. */
  readonly program: string;
  readonly upstreamPort: number;
  readonly env: Readonly<Record<string, string>>;
  readonly execTimeoutMs: number;
  readonly maxInflight: number;
  readonly readyPath: string;
}

export interface Watchdog {
  readonly url: string;
  /** SIGTERM, as Kubernetes sends it; the function's exit code once all is over. */
  terminate(): Promise<number | null>;
  kill(): Promise<void>;
}

/** A stand-in for of-watchdog 0.11 in http mode: what it documents, which is all that we rely on. */
export async function startWatchdog(options: WatchdogOptions): Promise<Watchdog> {
  const { program, upstreamPort, env, execTimeoutMs, maxInflight, readyPath } = options;
  const child = spawn(process.execPath, [program], {
    env: { ...env, PATH: dirname(process.execPath), PORT: String(upstreamPort) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  let stopping = false;
  let inflight = 0;

  const server = createServer((incoming, outgoing) => {
    const answer = (status: number, text = '') => outgoing.writeHead(status).end(text);
    if (incoming.url === '/_/health') return void answer(stopping ? 503 : 200, 'OK');
    const isReadyCheck = incoming.url === '/_/ready';
    if (!isReadyCheck && inflight >= maxInflight)
      return void answer(429, 'Concurrent request limit exceeded');
    inflight += 1;
    const begun = performance.now();
    const asking = request(
      {
        host: '127.0.0.1',
        port: upstreamPort,
        method: incoming.method,
        path: isReadyCheck ? readyPath : incoming.url,
        headers: incoming.headers,
        signal: AbortSignal.timeout(execTimeoutMs),
      },
      (answered) => {
        outgoing.writeHead(answered.statusCode ?? 502, {
          ...answered.headers,
          'x-duration-seconds': ((performance.now() - begun) / 1000).toFixed(6),
        });
        answered.pipe(outgoing);
      },
    );
    asking.on('error', (error) => {
      if (!outgoing.headersSent)
        answer(error.name === 'AbortError' || error.name === 'TimeoutError' ? 504 : 500);
    });
    outgoing.on('close', () => {
      inflight -= 1;
    });
    incoming.pipe(asking);
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;

  async function close(): Promise<number | null> {
    const [code] = await ended;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
    return code;
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    terminate() {
      stopping = true;
      child.kill('SIGTERM');
      return close();
    },
    async kill() {
      if (!server.listening) return;
      child.kill('SIGKILL');
      await close();
    },
  };
}
