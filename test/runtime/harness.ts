import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { done, type Outcome } from '../../shared/core/outcome.ts';
import { createLog, type Log } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import {
  type FunctionDefinition,
  type Invocation,
  type ServedFunction,
  served,
} from '../../shared/server/function.ts';
import { type RunningServer, type ServeOptions, serve } from '../../shared/server/serve.ts';

export interface Call {
  readonly input: unknown;
  readonly invocation: Invocation;
}

/** A function that keeps what it was called with and ends as it is told. */
export function recorder(
  definition: Partial<FunctionDefinition> = {},
  end: (call: Call) => Promise<Outcome> | Outcome = () => done({ ok: true }),
): { readonly calls: Call[]; readonly served: ServedFunction } {
  const calls: Call[] = [];
  const whole: FunctionDefinition = {
    name: 'recorder',
    does: 'keeps what it was called with',
    wakesOn: ['dev.bamel.test.*', 'dev.knative.apiserver.*', 'dev.knative.sources.ping'],
    emits: [],
    input: z.strictObject({
      dryRun: z.boolean().optional(),
      machine: z.string().optional(),
      power: z.enum(['on', 'off']).optional(),
    }),
    ...definition,
  };
  return {
    calls,
    served: served(whole, async (input, invocation) => {
      const call = { input, invocation };
      calls.push(call);
      return end(call);
    }),
  };
}

export function memoryLog(): { readonly log: Log; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line)) };
  return { log: createLog({ level: 'debug', format: 'json', stream }), lines };
}

/** Serves on an ephemeral port for as long as `body` runs. */
export async function serving(
  functions: readonly ServedFunction[],
  options: Partial<ServeOptions>,
  body: (server: RunningServer) => Promise<void>,
): Promise<void> {
  const server = await serve(functions, {
    host: '127.0.0.1',
    port: 0,
    log: memoryLog().log,
    metrics: createMetrics(),
    ...options,
  });
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

export const post = (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

export const eventHeaders = (more: Record<string, string> = {}) => ({
  'ce-specversion': '1.0',
  'ce-id': 'e-1',
  'ce-source': '/test',
  'ce-type': 'dev.bamel.test.asked',
  ...more,
});

export const structured = (more: Record<string, unknown> = {}) => ({
  specversion: '1.0',
  id: 'e-1',
  source: '/test',
  type: 'dev.bamel.test.asked',
  ...more,
});

/** A request as it was recorded from the real sender. */
export function recorded(name: string): { headers: Record<string, string>; body: unknown } {
  const path = new URL(`../fixtures/events/${name}.json`, import.meta.url);
  const { headers, body } = JSON.parse(readFileSync(path, 'utf8'));
  delete headers['content-length'];
  return { headers, body };
}

/** Everything that comes back on a connection on which the given bytes were sent, until the server closes it. */
export function rawExchange(port: number, ...chunks: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    for (const chunk of chunks) socket.write(chunk);
  });
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 5) {
    if (condition()) return;
    await delay(5);
  }
  throw new Error(`gave up waiting: ${what}`);
}
