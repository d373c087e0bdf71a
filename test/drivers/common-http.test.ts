import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { failureOf } from '../../shared/drivers/common/failure.ts';
import { type HttpPeer, type HttpRequest, httpRequest } from '../../shared/http/peer.ts';
import type { Tls } from '../../shared/schema/tls.ts';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';
import { failing, patient } from './harness.ts';

const servers: (Server | TcpServer)[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
    await once(server, 'close');
  }
});

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Whatever was sent has arrived by then. */
const noConnections = () =>
  eventually(async () => {
    const left = await new Promise((resolve) => servers[0]?.getConnections((_, count) => resolve(count)));
    expect(left).toBe(0);
  });

interface More {
  readonly tls?: Tls;
  readonly resolve?: HttpPeer['resolve'];
}
const peerAt = (url: string, { tls, resolve = async () => '127.0.0.1' }: More = {}): HttpPeer => ({
  who: 'its BMC',
  section: 'redfish',
  address: new URL(url),
  tls,
  resolve,
  fail: failureOf({ name: 'mini-1' }),
});

const authorization = 'Basic canary-9f3c';
const ask = (peer: HttpPeer, signal = patient(), more: Partial<HttpRequest> = {}) =>
  httpRequest(peer, { method: 'GET', path: '/power', headers: { authorization }, ...more }, signal);

const serve = (handler: (request: IncomingMessage, response: ServerResponse) => void) =>
  listen(createServer(handler));

describe('where it goes', () => {
  test('to the address that was checked, with the name of the URL, asked for at each request', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await serve(({ headers }, response) => {
      hosts.push(headers.host);
      response.end('on');
    });
    const asked: string[] = [];
    // As of a name server that answers otherwise the second time, when the guard refuses.
    const peer = peerAt(`http://bmc.example:${port}`, {
      resolve: async (host) => {
        asked.push(host);
        if (asked.length > 1) throw peer.fail('config', 'forbidden');
        return '127.0.0.1';
      },
    });
    expect(await ask(peer)).toMatchObject({ status: 200, text: 'on' });
    expect(hosts).toEqual([`bmc.example:${port}`]);
    expect(await failing(() => ask(peer))).toMatchObject({ code: 'config' });
    expect(asked).toEqual(['bmc.example', 'bmc.example']);
    expect(hosts).toHaveLength(1);
  });

  test('an IPv6 address is asked about without its brackets', async () => {
    const asked: string[] = [];
    const port = await serve((_, response) => response.end());
    await ask(
      peerAt(`http://[fd12::7]:${port}`, {
        resolve: async (host) => {
          asked.push(host);
          return '127.0.0.1';
        },
      }),
    );
    expect(asked).toEqual(['fd12::7']);
  });

  test.each([
    'http://elsewhere.example/',
    '//elsewhere.example/x',
    'file:///etc/passwd',
    'https://bmc.example/',
  ])('not to %s, whoever says so', async (path) => {
    let reached = 0;
    const port = await serve((_, response) => {
      reached += 1;
      response.end();
    });
    const peer = peerAt(`http://bmc.example:${port}`);
    expect(await failing(() => ask(peer, patient(), { path }))).toMatchObject({ code: 'refused' });
    expect(reached).toBe(0);
  });

  test('a connection for each request, none is left open', async () => {
    const ports = new Set<number | undefined>();
    const port = await serve(({ socket }, response) => {
      ports.add(socket.remotePort);
      response.end('on');
    });
    const peer = peerAt(`http://bmc.example:${port}`);
    for (let times = 0; times < 5; times++) await ask(peer);
    expect(ports.size).toBe(5);
    await noConnections();
  });
});

describe('time', () => {
  test('a name server that does not answer ends with the signal', async () => {
    const peer = peerAt('http://bmc.example', { resolve: () => new Promise(() => undefined) });
    expect(await failing(() => ask(peer, AbortSignal.timeout(100)))).toMatchObject({ code: 'timeout' });
  });

  test('fault 13: a body that comes a byte at a time ends with the signal', async () => {
    const port = await serve((request, response) => {
      const timer = setInterval(() => response.write('x'), 10);
      request.socket.once('close', () => clearInterval(timer));
    });
    const peer = peerAt(`http://bmc.example:${port}`);
    expect(await failing(() => ask(peer, AbortSignal.timeout(200)))).toMatchObject({ code: 'timeout' });
  });

  test('fault 13: headers that never end do too', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('x-more: 1\r\n'), 10);
        socket.once('close', () => clearInterval(timer));
      }),
    );
    const peer = peerAt(`http://bmc.example:${port}`);
    expect(await failing(() => ask(peer, AbortSignal.timeout(200)))).toMatchObject({ code: 'timeout' });
  });
});

describe('what is no answer', () => {
  test('an answer cut short is unreachable', async () => {
    const port = await serve(({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setImmediate(() => socket.destroy());
    });
    const peer = peerAt(`http://bmc.example:${port}`);
    expect(await failing(() => ask(peer))).toMatchObject({ code: 'unreachable' });
  });

  test('something else than HTTP is refused', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.resume().end('SSH-2.0-OpenSSH_9.9\r\n');
      }),
    );
    const error = await failing(() => ask(peerAt(`http://bmc.example:${port}`)));
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('does not speak HTTP') });
  });

  test('a header that cannot be sent does not show up in the error', async () => {
    const port = await serve((_, response) => response.end());
    const headers = { authorization: `${authorization}\r\nx-injected: 1` };
    const error = await failing(() => ask(peerAt(`http://bmc.example:${port}`), patient(), { headers }));
    expect(error.message).toContain('ERR_INVALID_CHAR');
  });
});

describeWith(['openssl'], 'TLS', () => {
  const folder = newFolder();
  let caFile: string;
  let files: { key: string; cert: string };
  let own: string;
  beforeAll(() => {
    const authority = makeAuthority(folder);
    caFile = authority.cert;
    const { key, cert } = authority.issueServer('bmc');
    files = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    own = `sha256:${new X509Certificate(files.cert).fingerprint256}`;
  });

  /** What arrives inside of TLS, and the name that was asked for. */
  async function start() {
    const seen = { bytes: '', names: [] as unknown[] };
    const port = await listen(
      createTlsServer(files, (socket: TLSSocket) => {
        seen.names.push(socket.servername);
        socket.on('error', () => undefined);
        socket.on('data', (data) => {
          seen.bytes += data;
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\non');
        });
      }).on('tlsClientError', () => undefined),
    );
    return { seen, port };
  }
  const other = `sha256:${'ab'.repeat(32)}`;

  test('the name of the URL is asked for and checked, whatever the address', async () => {
    const { seen, port } = await start();
    expect((await ask(peerAt(`https://localhost:${port}`, { tls: { caFile } }))).text).toBe('on');
    expect(seen.names).toEqual(['localhost']);
    expect(seen.bytes).toContain(authorization);
    const error = await failing(() => ask(peerAt(`https://bmc.example:${port}`, { tls: { caFile } })));
    expect(error).toMatchObject({ code: 'unreachable', final: false });
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('an address in the URL is checked too', async () => {
    const { port } = await start();
    expect((await ask(peerAt(`https://127.0.0.1:${port}`, { tls: { caFile } }))).text).toBe('on');
    const error = await failing(() =>
      ask(peerAt(`https://127.0.0.2:${port}`, { tls: { caFile }, resolve: async (host) => host })),
    );
    expect(error.message).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID|ECONNREFUSED/);
  });

  test('the pinned certificate is taken, whoever signed it for whatever name', async () => {
    const { port } = await start();
    for (const fingerprint of [own, own.toLowerCase(), own.replaceAll(':', '').replace('sha256', 'sha256:')])
      expect((await ask(peerAt(`https://bmc.example:${port}`, { tls: { fingerprint } }))).text).toBe('on');
  });

  test('another one is final, and nothing was sent to it: neither password nor path', async () => {
    const { seen, port } = await start();
    const error = await failing(() =>
      ask(peerAt(`https://bmc.example:${port}`, { tls: { fingerprint: other } })),
    );
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toContain('update redfish.tls.fingerprint');
    expect(error.message).toContain(own.replaceAll(':', '').slice('sha256'.length).toLowerCase());
    await noConnections();
    expect(seen.bytes).toBe('');
  });

  test('nor to one that no known CA signed', async () => {
    const { seen, port } = await start();
    expect(await failing(() => ask(peerAt(`https://localhost:${port}`)))).toMatchObject({
      code: 'unreachable',
    });
    await noConnections();
    expect(seen.bytes).toBe('');
  });

  test('any certificate is taken only where that was asked for', async () => {
    const { port } = await start();
    expect((await ask(peerAt(`https://bmc.example:${port}`, { tls: { insecure: true } }))).text).toBe('on');
  });

  test('plain HTTP on the other side is refused as what it is', async () => {
    const port = await serve((_, response) => response.end());
    const error = await failing(() => ask(peerAt(`https://localhost:${port}`, { tls: { insecure: true } })));
    expect(error).toMatchObject({ code: 'unreachable', final: false });
  });
});
