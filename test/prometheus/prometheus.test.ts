import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PrometheusOptions, prometheus } from '../../shared/adapters/prometheus/prometheus.ts';
import { networkGuard } from '../../shared/http/network-guard.ts';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { closing, newFolder } from '../support/cleanup.ts';
import { type FakePrometheus, type Reply, scalar, startFakePrometheus, vector } from './fake-prometheus.ts';

let server: FakePrometheus;
let folder: string;
beforeAll(async () => {
  server = await startFakePrometheus();
  folder = newFolder();
});
afterAll(async () => {
  await server.close();
});

const loopback = networkGuard(['127.0.0.0/8']);
const ask = (options: Partial<PrometheusOptions> = {}, patienceMs = 20_000) =>
  prometheus({ url: server.url, resolve: loopback, ...options }).query(
    'sum(up) > 0 or vector(0)',
    AbortSignal.timeout(patienceMs),
  );

test('asks in a form, below the path of the URL, with the token of the file', async () => {
  server.reply = vector(['1.5'], 1_700_000_000_250);
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, 'sesame\n');
  expect(await ask({ url: `${server.url}/prometheus/`, tokenFile })).toEqual({
    at: 1_700_000_000_250,
    values: [1.5],
  });
  expect(server.asked.at(-1)).toEqual({
    method: 'POST',
    path: '/prometheus/api/v1/query',
    query: 'sum(up) > 0 or vector(0)',
    authorization: 'Bearer sesame',
  });
  await writeFile(tokenFile, 'changed');
  await ask({ tokenFile });
  expect(server.asked.at(-1)).toMatchObject({ path: '/api/v1/query', authorization: 'Bearer changed' });
});

test('numbers are what Prometheus says, whatever they are', async () => {
  server.reply = vector(['1e-3', 'NaN', '+Inf', '-4']);
  expect((await ask()).values).toEqual([0.001, Number.NaN, Number.NaN, -4]);
  server.reply = vector([]);
  expect((await ask()).values).toEqual([]);
  server.reply = scalar('42');
  expect((await ask()).values).toEqual([42]);
});

const matrix = { status: 'success', data: { resultType: 'matrix', result: [] } };

test.each<[string, Reply, string | RegExp]>([
  [
    'a query that is wrong',
    { status: 400, body: { status: 'error', errorType: 'bad_data', error: 'parse error: unexpected ")"' } },
    'Prometheus answered 400: parse error: unexpected ")"',
  ],
  [
    'a token that is wrong',
    { status: 401, body: 'Unauthorized' },
    /refused us \(401\).*BAMEL_PROMETHEUS_TOKEN_FILE/,
  ],
  ['something else that answers', { body: '<html>' }, /answered 200, not with .* BAMEL_PROMETHEUS_URL/],
  ['a range', { body: matrix }, /not with one number or one per series/],
  [
    'somebody who sends us elsewhere',
    { status: 302, headers: { location: 'http://169.254.169.254/' }, body: '' },
    /answered 302/,
  ],
  ['too much', { body: 'x'.repeat(1_100_000) }, /more than 1000000 bytes/],
])('%s is told', async (_what, reply, message) => {
  server.reply = reply;
  await expect(ask()).rejects.toMatchObject({
    name: 'MetricsError',
    message: expect.stringMatching(typeof message === 'string' ? escaped(message) : message),
  });
});

const escaped = (text: string): RegExp => new RegExp(`^${text.replace(/[()]/g, '\\$&')}$`);

test('no answer, nobody there, an address that is not allowed, a token that is not there', async () => {
  server.reply = undefined;
  await expect(ask({}, 200)).rejects.toThrow('Prometheus did not answer in time');
  const gone = await startFakePrometheus();
  await gone.close();
  await expect(ask({ url: gone.url })).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/);
  await expect(ask({ resolve: networkGuard(['10.0.0.0/8']) })).rejects.toThrow(
    /outside of the allowed networks .*If Prometheus is there, add its network to BAMEL_ALLOWED_NETWORKS/,
  );
  await expect(ask({ url: 'http://169.254.169.254', resolve: networkGuard(['0.0.0.0/0']) })).rejects.toThrow(
    /cloud metadata/,
  );
  await expect(ask({ tokenFile: join(folder, 'none') })).rejects.toThrow(
    'BAMEL_PROMETHEUS_TOKEN_FILE cannot be read (ENOENT)',
  );
});

describeWith(['openssl'], 'over TLS', () => {
  test('only who shows a certificate of the CA is asked', async () => {
    const authority = makeAuthority(folder);
    const { key, cert } = authority.issueServer('prometheus');
    const secure = closing(
      await startFakePrometheus({
        key: readFileSync(key, 'utf8'),
        cert: readFileSync(cert, 'utf8'),
      }),
    );
    expect((await ask({ url: secure.url, caFile: authority.cert })).values).toEqual([1]);
    await expect(ask({ url: secure.url })).rejects.toThrow(
      /Set BAMEL_PROMETHEUS_CA to the CA of its certificate$/,
    );
    await expect(ask({ url: secure.url, caFile: join(folder, 'none') })).rejects.toThrow(
      /^BAMEL_PROMETHEUS_CA cannot be read/,
    );
    expect(secure.asked).toHaveLength(1);
  });
});
