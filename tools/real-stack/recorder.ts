import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Recorded {
  readonly id: string;
  readonly type: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A subscriber that notes what it gets and answers as it is told. */
export interface Recorder {
  readonly port: number;
  readonly got: Recorded[];
  /** The status of the next answers; 204 otherwise. */
  readonly answers: number[];
  close(): Promise<void>;
}

export async function startRecorder(): Promise<Recorder> {
  const got: Recorded[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { headers } = request;
    got.push({ id: String(headers['ce-id']), type: String(headers['ce-type']), headers, body });
    response.writeHead(answers.shift() ?? 204).end();
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    got,
    answers,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
