import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { type KubeCall, kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function open(server: string, cluster: object = { skipTLSVerify: true }, token = 'secret\n') {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'c', server, skipTLSVerify: false, ...cluster },
    { name: 'u', token },
  );
  const transport = kubeTransport(kubeConfig);
  cleanup.defer(() => transport.close());
  return transport;
}

/** A server, a transport to it, and the number of connections it has seen. */
async function serve(answer: RequestListener) {
  const server = createServer(answer);
  const seen = { connections: 0 };
  server.on('connection', () => {
    seen.connections += 1;
  });
  return { seen, transport: open(`http://127.0.0.1:${await listen(server)}/behind/`) };
}
const call = (method: KubeCall['method'], path: string, more: Partial<KubeCall> = {}): KubeCall => ({
  method,
  path,
  query: { limit: 5, not: undefined },
  ...more,
});
const patient = () => AbortSignal.timeout(10_000);

test('a request has its path behind that of the server, its query and its token', async () => {
  const { transport } = await serve((request, response) => {
    response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
  });
  const { text } = await transport.send(call('GET', '/api/v1/nodes'), patient());
  expect(text).toBe('GET /behind/api/v1/nodes?limit=5 Bearer secret');
});

test('requests one after the other share a connection', async () => {
  const { transport, seen } = await serve((_, response) => response.end('fine'));
  for (const path of ['/a', '/b', '/c']) await transport.send(call('GET', path), patient());
  expect(seen.connections).toBe(1);
});

test.each([
  ['a read', call('GET', '/second'), 3],
  ['a read by POST', call('POST', '/second', { isRead: true, body: {} }), 3],
])('on a kept connection that the server has closed %s is sent again', async (_name, second, requests) => {
  const received: string[] = [];
  const { transport } = await serve((request, response) => {
    received.push(request.url ?? '');
    if (received.length === 2) request.socket.destroy();
    else response.end('fine');
  });
  await transport.send(call('GET', '/first'), patient());
  expect((await transport.send(second, patient())).text).toBe('fine');
  expect(received).toHaveLength(requests);
});

test('a write is sent once', async () => {
  const received: string[] = [];
  const { transport } = await serve((request, response) => {
    received.push(request.method ?? '');
    if (request.method === 'POST') request.socket.destroy();
    else response.end('fine');
  });
  await transport.send(call('GET', '/first'), patient());
  await expect(transport.send(call('POST', '/a', { body: {} }), patient())).rejects.toThrow();
  expect(received).toEqual(['GET', 'POST']);
});

test('a signal ends its own request, with its reason, and no other', async () => {
  const held = Promise.withResolvers<void>();
  const { transport } = await serve(async (request, response) => {
    if (request.url?.includes('/slow')) await held.promise;
    response.end('fine');
  });
  const hurry = new AbortController();
  const slow = transport.send(call('GET', '/slow'), hurry.signal);
  const other = transport.send(call('GET', '/other'), patient());
  hurry.abort(new Error('no longer'));
  await expect(slow).rejects.toThrow('no longer');
  expect((await other).text).toBe('fine');
  held.resolve();
});

test('a connection that ends during an answer is an error', async () => {
  const { transport } = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half');
    setTimeout(() => response.destroy(), 20);
  });
  await expect(transport.send(call('GET', '/a'), patient())).rejects.toThrow();
});

test('a kubeconfig that cannot be read is read again by the next request', async () => {
  const folder = newFolder();
  const kubeconfigFile = join(folder, 'kubeconfig');
  const transport = kubeTransport({ kubeconfigFile });
  await expect(transport.namespace()).rejects.toThrow('ENOENT');
  const kubeconfig = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'bamel' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: {} }],
  };
  await writeFile(kubeconfigFile, JSON.stringify(kubeconfig));
  expect(await transport.namespace()).toBe('bamel');
});

test('a proxy of the kubeconfig is used', async () => {
  const asked: string[] = [];
  const api = createServer((_, response) => response.end('behind the proxy'));
  const port = await listen(api);
  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    asked.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    cleanup.defer(() => void client.destroy());
  });
  const proxyUrl = `http://127.0.0.1:${await listen(proxy)}`;
  const transport = open('http://kubernetes.invalid:80', { skipTLSVerify: true, proxyUrl });
  expect((await transport.send(call('GET', '/a'), patient())).text).toBe('behind the proxy');
  expect(asked).toEqual(['kubernetes.invalid:80']);
});

describeWith(['openssl'], 'over TLS', () => {
  const folder = newFolder();
  const ours = makeAuthority(mkdtempSync(join(folder, 'ours-')));
  const theirs = makeAuthority(mkdtempSync(join(folder, 'theirs-')));
  const shown = ours.issueServer('bamel');

  async function serveTls(asked: string[]): Promise<string> {
    const server = createTlsServer(
      { cert: readFileSync(shown.cert), key: readFileSync(shown.key) },
      (request, response) => {
        asked.push(String(request.headers.authorization));
        response.end('in');
      },
    );
    return `https://127.0.0.1:${await listen(server)}`;
  }

  test('a server with a certificate of our CA is asked', async () => {
    const asked: string[] = [];
    const transport = open(await serveTls(asked), { caFile: ours.cert });
    expect((await transport.send(call('GET', '/a'), patient())).text).toBe('in');
    expect(asked).toEqual(['Bearer secret']);
  });

  test.each([
    ['of another CA', { caFile: theirs.cert }],
    ['of no CA that the system knows', {}],
    ['for another name', { caFile: ours.cert, tlsServerName: 'elsewhere' }],
  ])('a server with a certificate %s never sees the token', async (_name, cluster) => {
    const asked: string[] = [];
    const transport = open(await serveTls(asked), cluster);
    await expect(transport.send(call('GET', '/a'), patient())).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  test('a certificate that is not verified has to be allowed', async () => {
    const asked: string[] = [];
    const transport = open(await serveTls(asked), { skipTLSVerify: true });
    await eventually(async () =>
      expect((await transport.send(call('GET', '/a'), patient())).text).toBe('in'),
    );
  });
});
