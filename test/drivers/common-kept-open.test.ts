import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failureOf } from '../../shared/drivers/common/failure.ts';
import { type HttpPeer, httpRequest, keptOpen } from '../../shared/http/peer.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { failing, patient } from './harness.ts';

let server: Server;
let connections: number;
let answer: (response: ServerResponse, nth: number) => void;
let peer: HttpPeer;
let requests: string[];
beforeEach(async () => {
  connections = 0;
  requests = [];
  answer = (response) => response.end('on');
  server = createServer((request, response) => {
    requests.push(request.method ?? '');
    answer(response, requests.length);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  peer = {
    who: 'its BMC',
    section: 'redfish',
    address: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    resolve: async (host) => host,
    fail: failureOf({ name: 'mini-1' }),
  };
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

const ask = (to: HttpPeer, method = 'GET', signal = patient()) =>
  httpRequest(to, { method, path: '/power' }, signal);
const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

test('the GETs of a conversation share a connection, which ends with it', async () => {
  {
    using bmc = keptOpen(peer, patient());
    for (let nth = 0; nth < 5; nth += 1) expect(await ask(bmc)).toMatchObject({ status: 200, text: 'on' });
    expect(connections).toBe(1);
    expect(await open()).toBe(1);
  }
  await eventually(async () => expect(await open()).toBe(0));
  await ask(peer);
  await ask(peer);
  expect(connections).toBe(3);
});

test('what changes something has a connection of its own', async () => {
  using bmc = keptOpen(peer, patient());
  await ask(bmc);
  await ask(bmc, 'POST');
  await ask(bmc);
  expect(connections).toBe(2);
  expect(requests).toEqual(['GET', 'POST', 'GET']);
});

test('a peer that closes after every answer is asked anew', async () => {
  answer = (response) => response.writeHead(200, { connection: 'close' }).end('on');
  using bmc = keptOpen(peer, patient());
  for (let nth = 0; nth < 3; nth += 1) expect((await ask(bmc)).text).toBe('on');
  expect(connections).toBe(3);
});

test('a peer that drops the connection instead of an answer is asked once more, on a new one', async () => {
  answer = (response, nth) => (nth === 2 ? response.socket?.destroy() : response.end('on'));
  using bmc = keptOpen(peer, patient());
  await ask(bmc);
  expect((await ask(bmc)).text).toBe('on');
  expect([connections, requests.length]).toEqual([2, 3]);
});

test('on a fresh connection that is an error, as ever', async () => {
  answer = (response) => response.socket?.destroy();
  using bmc = keptOpen(peer, patient());
  expect(await failing(() => ask(bmc))).toMatchObject({ code: 'unreachable' });
  expect(requests).toHaveLength(1);
});

test('out of time is out of time', async () => {
  answer = (response, nth) => nth === 1 && response.end('on');
  using bmc = keptOpen(peer, patient());
  await ask(bmc);
  expect(await failing(() => ask(bmc, 'GET', AbortSignal.timeout(200)))).toMatchObject({ code: 'timeout' });
  expect(requests).toHaveLength(2);
});

test('where nobody is, nobody is reached', async () => {
  using bmc = keptOpen({ ...peer, address: new URL('http://127.0.0.1:1') }, patient());
  expect(await failing(() => ask(bmc))).toMatchObject({ code: 'unreachable' });
});
