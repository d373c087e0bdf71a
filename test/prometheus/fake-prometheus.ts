import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly authorization: string | undefined;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | object;
}

export interface FakePrometheus {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** What every query is answered with from now on; undefined: nothing at all. */
  reply: Reply | undefined;
  close(): Promise<void>;
}

const seconds = (ms: number): number => ms / 1000;

/** What Prometheus says to an instant query. */
export const vector = (values: readonly string[], at = Date.now()): Reply => ({
  body: {
    status: 'success',
    data: {
      resultType: 'vector',
      result: values.map((value, index) => ({
        metric: { instance: String(index) },
        value: [seconds(at), value],
      })),
    },
  },
});

export const scalar = (value: string, at = Date.now()): Reply => ({
  body: { status: 'success', data: { resultType: 'scalar', result: [seconds(at), value] } },
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

export async function startFakePrometheus(tls?: { key: string; cert: string }): Promise<FakePrometheus> {
  const asked: Asked[] = [];
  const server = tls ? createTlsServer(tls) : createServer();
  server.on('request', async (request, response) => {
    const query = new URLSearchParams(await bodyOf(request)).get('query');
    const { method = '', url: path = '', headers } = request;
    asked.push({ method, path, query, authorization: headers.authorization });
    const { reply } = fake;
    if (!reply) return;
    response.writeHead(reply.status ?? 200, reply.headers);
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  const { port } = server.address() as AddressInfo;
  const fake: FakePrometheus = {
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}`,
    asked,
    reply: vector(['1']),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return fake;
}
