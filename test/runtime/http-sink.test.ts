import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../shared/ports/clock.ts';
import { createHttpSink, type HttpSinkOptions } from '../../shared/server/http-sink.ts';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { newFolder } from '../support/cleanup.ts';
import { recorder, serving } from './harness.ts';

const event = { type: 'dev.bamel.test.asked', subject: 'tower-1', data: { machine: 'tower-1' } };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A broker that answers with these statuses in turn, then 202. `hang` never answers. */
async function withBroker(
  answers: (number | 'hang' | { status: number; headers: Record<string, string> })[],
  options: Partial<HttpSinkOptions>,
  run: (emit: () => Promise<void>, received: Received[], slept: number[]) => Promise<void>,
): Promise<void> {
  const received: Received[] = [];
  const slept: number[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    const next = answers.shift() ?? 202;
    if (next === 'hang') return;
    const { status, headers = {} } = typeof next === 'number' ? { status: next } : next;
    response.writeHead(status, headers).end('ignored');
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  const { port } = server.address() as AddressInfo;
  const clock: Clock = {
    now: () => 1_700_000_000_000,
    monotonic: () => 0,
    sleep: async (ms) => void slept.push(ms),
  };
  const sink = createHttpSink({
    url: `http://127.0.0.1:${port}/default`,
    source: '/bamel/host',
    clock,
    ...options,
  });
  try {
    await run(() => sink.emit(event), received, slept);
  } finally {
    await sink.close();
    server.close();
    server.closeAllConnections();
  }
}

test('sends a binary CloudEvent with the overrides applied', async () => {
  const options = { extensions: { team: 'infra' }, token: async () => 'secret\nolder' };
  await withBroker([], options, async (emit, received) => {
    await emit();
    expect(received).toEqual([
      {
        headers: expect.objectContaining({
          'ce-specversion': '1.0',
          'ce-id': expect.stringMatching(/^ev-/),
          'ce-source': '/bamel/host',
          'ce-type': 'dev.bamel.test.asked',
          'ce-subject': 'tower-1',
          'ce-time': '2023-11-14T22:13:20.000Z',
          'ce-team': 'infra',
          'content-type': 'application/json',
          authorization: 'Bearer secret',
        }),
        body: '{"machine":"tower-1"}',
      },
    ]);
  });
});

test('what it sends is what a function of ours takes', async () => {
  const { calls, served } = recorder();
  await serving([served], { token: async () => 'secret' }, async ({ url }) => {
    const clock = { now: () => 1_700_000_000_000, monotonic: () => 0, sleep: async () => undefined };
    const sink = createHttpSink({ url, source: '/bamel', clock, token: async () => 'secret' });
    await sink.emit({ ...event, subject: 'größe "1"\r\nx: y' });
    await sink.close();
  });
  expect(calls).toMatchObject([{ input: { machine: 'tower-1' }, invocation: { trigger: event.type } }]);
});

test.each([404, 408, 409, 429, 500, 502, 503])('%d is tried again, with the same id', async (status) => {
  await withBroker([status, status], {}, async (emit, received, slept) => {
    await emit();
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers['ce-id'])).size).toBe(1);
    expect(slept).toEqual([100, 200]);
  });
});

test('Retry-After is honoured, within reason', async () => {
  const ask = (after: string) => ({ status: 503, headers: { 'retry-after': after } });
  const inTwoSeconds = new Date(1_700_000_002_000).toUTCString();
  await withBroker([ask('3'), ask(inTwoSeconds), ask('86400')], {}, async (emit, _received, slept) => {
    await emit();
    expect(slept).toEqual([3_000, 2_000, 5_000]);
  });
});

test.each([400, 401, 413, 302])('%d is an error at once, and no redirect is followed', async (status) => {
  const answer = { status, headers: { location: 'http://169.254.169.254/' } };
  await withBroker([answer], {}, async (emit, received) => {
    await expect(emit()).rejects.toMatchObject({
      name: 'SinkError',
      message: expect.stringMatching(
        `was not taken by http://127.0.0.1:.*: it answered ${status}. Check K_SINK`,
      ),
    });
    expect(received).toHaveLength(1);
  });
});

test('gives up after a few tries', async () => {
  await withBroker([503, 503, 503, 503], {}, async (emit, received) => {
    await expect(emit()).rejects.toThrow('it answered 503');
    expect(received).toHaveLength(4);
  });
});

test('a sink that hangs is tried again after the time-out', async () => {
  await withBroker(['hang'], { timeoutMs: 100 }, async (emit, received) => {
    await emit();
    expect(received).toHaveLength(2);
  });
  await withBroker(['hang', 'hang'], { timeoutMs: 100, tries: 2 }, async (emit) => {
    await expect(emit()).rejects.toThrow('no answer within 0.1 s');
  });
});

test('nobody there is an error that says so', async () => {
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
  const sink = createHttpSink({ url: 'http://user:hunter2@127.0.0.1:1/', source: '/bamel', clock });
  const error = await sink.emit(event).catch((reason: Error) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
  expect(String(error)).not.toContain('hunter2');
});

describeWith(['openssl'], 'over TLS', () => {
  const folder = newFolder();
  let server: Server;
  let url: string;
  let caCerts: string;
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };

  beforeAll(async () => {
    const authority = makeAuthority(folder);
    const { cert, key } = authority.issueServer('broker');
    caCerts = await readFile(authority.cert, 'utf8');
    const identity = { cert: await readFile(cert), key: await readFile(key) };
    server = createTlsServer(identity, (_request, response) => response.writeHead(202).end());
    const listening = once(server, 'listening');
    server.listen(0, '127.0.0.1');
    await listening;
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
  });

  test('the certificates from K_CA_CERTS are trusted', async () => {
    const sink = createHttpSink({ url, source: '/bamel', clock, caCerts });
    await expect(sink.emit(event)).resolves.toBeUndefined();
    await sink.close();
  });

  test('nobody else is', async () => {
    const sink = createHttpSink({ url, source: '/bamel', clock });
    await expect(sink.emit(event)).rejects.toThrow(/was not taken by https:.*certificate/);
    await sink.close();
  });
});
