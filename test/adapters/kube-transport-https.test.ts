import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpsTransport } from '../../shared/adapters/kube-transport-https.ts';
import { eventually } from '../support/eventually.ts';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

/** A server, and how a function reaches it that was started for one event. */
async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/behind/`,
    namespace: undefined,
    tls: {},
    token: () => 'secret',
  };
  const transport = httpsTransport(target, true);
  cleanup.defer(async () => {
    transport.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return transport;
}
const call = (method: 'GET' | 'POST', path: string) => ({
  method,
  path,
  query: { limit: 5, not: undefined },
});
const patient = () => AbortSignal.timeout(10_000);

test('a request has its path behind that of the server, its query and its token', async () => {
  const transport = await serve((request, response) => {
    response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
  });
  const { text } = await transport.send(call('GET', '/api/v1/nodes'), patient());
  expect(text).toBe('GET /behind/api/v1/nodes?limit=5 Bearer secret');
});

test('what only reads and was behind an answer that ended the connection is asked again', async () => {
  const asked: string[] = [];
  const transport = await serve((request, response) => {
    asked.push(request.url ?? '');
    const isFirst = asked.length === 1;
    response.writeHead(200, isFirst ? { connection: 'close' } : {}).end('fine');
  });
  const paths = ['/a', '/b', '/c'];
  const answers = await Promise.all(paths.map((path) => transport.send(call('GET', path), patient())));
  expect(answers.map(({ text }) => text)).toEqual(['fine', 'fine', 'fine']);
});

test('a question that is no GET shares a connection like one, and is asked again', async () => {
  let asked = 0;
  const transport = await serve((request, response) => {
    asked += 1;
    // The first one is never answered, and the second ends both: they are on one connection.
    if (asked === 2) request.socket.destroy();
    else if (asked > 2) response.end(request.method);
  });
  const review = { method: 'POST', path: '/review', query: {}, body: {}, onlyAsks: true } as const;
  const both = [transport.send(call('GET', '/a'), patient()), transport.send(review, patient())];
  expect((await Promise.all(both)).map(({ text }) => text)).toEqual(['GET', 'POST']);
});

test('whose patience ends takes nobody else along', async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const transport = await serve(async (_, response) => {
    asked += 1;
    if (asked === 1) await held.promise;
    response.end('fine');
  });
  const hurry = new AbortController();
  const hurried = transport.send(call('GET', '/slow'), hurry.signal);
  const other = transport.send(call('GET', '/other'), patient());
  await eventually(() => expect(asked).toBeGreaterThan(0));
  hurry.abort(new Error('no longer'));
  await expect(hurried).rejects.toThrow('no longer');
  expect((await other).text).toBe('fine');
  held.resolve();
});

test('what changes something is asked once', async () => {
  let asked = 0;
  const transport = await serve((request) => {
    asked += 1;
    request.socket.destroy();
  });
  await expect(transport.send(call('POST', '/a'), patient())).rejects.toThrow();
  expect(asked).toBe(1);
});
