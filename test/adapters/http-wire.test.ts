import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { createWires, type WireTls } from '../../shared/adapters/http-wire.ts';
import { makeAuthority } from '../real/stack/certificates.ts';
import { freePorts } from '../real/stack/ports.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

const never = new AbortController().signal;
const get = (path = '/') => ({ isRead: true, method: 'GET', path, headers: {} });
const post = (path = '/') => ({ isRead: false, method: 'POST', path, headers: {}, body: '{}' });

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server, connections to it, and how many of them it has seen. */
async function serve(answer: RequestListener) {
  const server = createServer(answer);
  const port = await listening(server);
  const seen = { connections: 0 };
  server.on('connection', () => {
    seen.connections += 1;
  });
  cleanup.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, wires: open(port) };
}

function open(port: number, tls?: WireTls) {
  const wires = createWires(new URL(`${tls ? 'https' : 'http'}://127.0.0.1:${port}`), tls);
  cleanup.defer(() => wires.close());
  const send = (request: Parameters<ReturnType<typeof wires.take>['send']>[0], signal = never) =>
    wires.take(request.isRead).send(request, signal);
  return { ...wires, send };
}

/** Answers every connection with these bytes, cut where told. */
async function sayRaw(...pieces: readonly (string | Buffer)[]) {
  const sockets = new Set<Socket>();
  const server = createTcpServer(async (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    await once(socket, 'data');
    for (const piece of pieces) {
      socket.write(piece);
      // Each piece arrives by itself.
      await new Promise(setImmediate);
    }
  });
  const port = await listening(server);
  cleanup.defer(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return open(port);
}

test('a body goes there and back, with its headers, status and length in bytes', async () => {
  const { wires } = await serve(async (request, response) => {
    const body = await text(request);
    response.writeHead(409, {
      'X-Was': `${request.method} ${request.url} ${request.headers['content-type']}`,
    });
    response.end(body);
  });
  const body = '{"name":"größe ☃"}';
  const answer = await wires.send({
    isRead: false,
    method: 'POST',
    path: '/v3/kv?limit=5',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(answer).toMatchObject({
    status: 409,
    text: body,
    headers: { 'x-was': 'POST /v3/kv?limit=5 application/json' },
  });
});

test('questions that only read share a connection; their answers are told apart, whatever their sizes', async () => {
  const { seen, wires } = await serve((request, response) => {
    const size = Number(request.url?.slice(1));
    // Large ones come in parts, small ones with their length.
    for (let left = size; left > 100_000; left -= 100_000) response.write('x'.repeat(100_000));
    response.end('x'.repeat(size % 100_000));
  });
  const sizes = [3, 850_001, 0, 12_345, 1];
  const answers = await Promise.all(sizes.map((size) => wires.send(get(`/${size}`))));
  expect(answers.map((answer) => answer.text.length)).toEqual(sizes);
  expect(seen.connections).toBe(1);
});

test('what changes something waits behind nobody, and is waited for by nobody', async () => {
  const held = Promise.withResolvers<void>();
  const { seen, wires } = await serve(async (request, response) => {
    if (request.url === '/slow') await held.promise;
    response.end(request.url);
  });
  const slow = wires.send(get('/slow'));
  expect((await wires.send(post('/write'))).text).toBe('/write');
  const slowWrite = wires.send(post('/slow'));
  expect(seen.connections).toBe(2);
  held.resolve();
  expect((await slow).text).toBe('/slow');
  expect((await slowWrite).text).toBe('/slow');
  // Nobody uses them now.
  await wires.send(get('/again'));
  expect(seen.connections).toBe(2);
});

test('what is urgent goes ahead of what was asked before, as long as nothing was sent', async () => {
  const order: (string | undefined)[] = [];
  const { seen, wires } = await serve((request, response) => {
    order.push(request.url);
    response.end(request.url);
  });
  const paths = ['/pods', '/nodes', '/who'];
  const ask = (path: string) => wires.send({ ...get(path), isUrgent: path === '/who' });
  const answers = await Promise.all(paths.map(ask));
  expect(answers.map((answer) => answer.text)).toEqual(paths);
  expect([seen.connections, order]).toEqual([1, ['/who', '/pods', '/nodes']]);
  // Nothing overtakes what is on its way.
  expect((await Promise.all(paths.map(ask))).map((answer) => answer.text)).toEqual(paths);
});

test('behind many questions no further one waits', async () => {
  const held = Promise.withResolvers<void>();
  const { seen, wires } = await serve(async (_, response) => {
    await held.promise;
    response.end();
  });
  const all = Array.from({ length: 20 }, () => wires.send(get()));
  await eventually(() => expect(seen.connections).toBe(2));
  held.resolve();
  await Promise.all(all);
});

test('wherever the text is cut, it is read the same', async () => {
  const body = '{"a":1}';
  const whole = Buffer.from(
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n${body.slice(0, 3)}\r\n4\r\n${body.slice(3)}\r\n0\r\nTrailer: t\r\n\r\n`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const pieces = edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge));
      const wires = await sayRaw(...pieces.filter(({ length }) => length > 0));
      expect(await wires.send(get())).toMatchObject({ status: 200, text: body });
    }),
    { numRuns: 25, seed: 1 },
  );
});

test.each([
  ['something else than HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /no HTTP/],
  ['no length', 'HTTP/1.1 200 OK\r\n\r\nand then?', /how long/],
  ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', /no number/],
  ['a part whose length is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /no number/],
  [
    'a part that is longer than it says',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n',
    /longer/,
  ],
  ['headers without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`, /too long/],
  ['an answer too many', 'HTTP/1.1 204 No\r\n\r\nHTTP/1.1 204 No\r\n\r\n', undefined],
])('%s is an error, and the connection is not used again', async (_name, raw, message) => {
  const wires = await sayRaw(raw);
  const wire = wires.take(true);
  const sent = wire.send(get(), never);
  if (message) await expect(sent).rejects.toThrow(message);
  else await sent;
  await eventually(() => expect(wire.isClosed).toBe(true));
});

test('a connection that ends during an answer, or with it, ends what waits behind; the next is a new one', async () => {
  const { seen, wires } = await serve((request, response) => {
    if (request.url === '/cut') response.write('half', () => request.socket.destroy());
    else if (request.url === '/last') response.writeHead(200, { connection: 'close' }).end('last');
    else response.end('fine');
  });
  const ended = await Promise.allSettled(['/cut', '/behind'].map((path) => wires.send(get(path))));
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await wires.send(get('/last'))).text).toBe('last');
  expect((await wires.send(get())).text).toBe('fine');
  expect(seen.connections).toBe(3);
});

test('a signal ends the wait, with its reason; what was never sent is told apart', async () => {
  const { wires } = await serve(() => undefined);
  const controller = new AbortController();
  const wire = wires.take(false);
  const waiting = wire.send(post(), controller.signal);
  await eventually(() => expect(wire.wasConnected).toBe(true));
  controller.abort(new Error('too late'));
  await expect(waiting).rejects.toThrow('too late');
  const [port = 0] = await freePorts(1);
  const refused = open(port).take(false);
  await expect(refused.send(get(), never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(refused.wasConnected).toBe(false);
});

test.each([
  ['a path', get('/x HTTP/1.1\r\nx: y')],
  ['a header', { ...get(), headers: { authorization: 'Bearer a\nx: y' } }],
])('%s with a line break in it is not sent', async (_name, request) => {
  let asked = 0;
  const { wires } = await serve((_, response) => {
    asked += 1;
    response.end();
  });
  await expect(wires.send(request)).rejects.toThrow('line break');
  expect(asked).toBe(0);
});

describeWith(['openssl'], 'over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bamel-wire-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const ours = makeAuthority(mkdtempSync(join(folder, 'ours-')));
  const theirs = makeAuthority(mkdtempSync(join(folder, 'theirs-')));
  const shown = ours.issueServer('bamel');

  async function serveTls(asked: string[]) {
    const server = createTlsServer(
      { cert: readFileSync(shown.cert), key: readFileSync(shown.key) },
      (request, response) => {
        asked.push(String(request.headers.authorization));
        response.end('in');
      },
    );
    const port = await listening(server);
    cleanup.defer(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return port;
  }
  const request = { ...get(), headers: { authorization: 'Bearer secret' } };

  test('a server with a certificate of our CA is asked', async () => {
    const asked: string[] = [];
    const port = await serveTls(asked);
    expect((await open(port, { ca: readFileSync(ours.cert) }).send(request)).text).toBe('in');
    expect(asked).toEqual(['Bearer secret']);
  });

  test.each([
    ['of another CA', () => ({ ca: readFileSync(theirs.cert) })],
    ['for another name', () => ({ ca: readFileSync(ours.cert), servername: 'elsewhere' })],
  ])('one with a certificate %s never gets to see the token', async (_name, tls) => {
    const asked: string[] = [];
    const port = await serveTls(asked);
    await expect(open(port, tls()).send(request)).rejects.toThrow();
    expect(asked).toEqual([]);
  });
});
