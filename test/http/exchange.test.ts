import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Exchange, ExchangeError, exchange } from '../../shared/http/exchange.ts';

let server: Server;
let requests: IncomingMessage[];
let answer: (response: ServerResponse) => void;
const agent = new Agent();
beforeEach(async () => {
  requests = [];
  answer = (response) => response.end('on');
  server = createServer((request, response) => {
    requests.push(request);
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  delete process.env.http_proxy;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

const authorization = 'Basic canary-9f3c';
const url = (text = '/power') => new URL(text, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const send = (more: Partial<Exchange> = {}) =>
  exchange({
    method: 'GET',
    url: url(),
    headers: { authorization },
    agent,
    signal: AbortSignal.timeout(10_000),
    ...more,
  });

test('only the given headers are sent, and those that HTTP needs', async () => {
  await send();
  expect(Object.keys(requests[0]?.headers ?? {}).sort()).toEqual(['authorization', 'connection', 'host']);
  await send({ method: 'POST', body: 'größe' });
  expect(requests[1]?.headers).toMatchObject({ 'content-length': '7' });
  expect(requests[1]?.headers['content-type']).toBeUndefined();
});

test('a proxy of the environment is not used', async () => {
  process.env.http_proxy = 'http://127.0.0.1:1';
  expect((await send()).text).toBe('on');
});

test('a user and a password in the URL do not replace the authorization header', async () => {
  const withUser = url();
  withUser.username = 'user';
  withUser.password = 'hunter2';
  await send({ url: withUser });
  expect(requests[0]?.headers.authorization).toBe(authorization);
});

test('a redirect is an answer', async () => {
  answer = (response) => response.writeHead(302, { location: '/elsewhere' }).end();
  expect(await send()).toMatchObject({ status: 302, headers: { location: '/elsewhere' } });
  expect(requests).toHaveLength(1);
});

test('JSON stays text, and a compressed body is not unpacked', async () => {
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"on":true}');
  expect((await send()).text).toBe('{"on":true}');
  answer = (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(2_000_000)));
  expect((await send()).text.length).toBeLessThan(10_000);
});

test.each<[string, () => void, string]>([
  [
    'is cut short',
    () => {
      answer = (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half');
        setImmediate(() => response.destroy());
      };
    },
    'ECONNRESET',
  ],
  [
    'is too large',
    () => {
      answer = (response) => response.end('x'.repeat(1_000_001));
    },
    'too-large',
  ],
])('the error of an answer that %s contains nothing of the request', async (_, prepare, code) => {
  prepare();
  const error: unknown = await send().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ExchangeError);
  expect(error).toMatchObject({ code });
  expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('canary');
});
