import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverOptionsOf, sinkToken } from '../../apps/host/serve-options.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { readSettings } from '../../shared/process/settings.ts';
import type { TokenReview } from '../../shared/server/authenticate.ts';
import { HttpError } from '../../shared/server/http-response.ts';
import type { Route } from '../../shared/server/routes.ts';
import type { ServeOptions } from '../../shared/server/serve.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { eventHeaders, memoryLog, post, recorder, serving } from '../runtime/harness.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const both = { token: async () => 'act', readToken: async () => 'look' } satisfies Partial<ServeOptions>;
const api: Route = {
  method: 'GET',
  path: '/api/*',
  respond: async () => ({ status: 200, json: { items: [] } }),
};

test('a token that may look reads the API and the metrics, and can make nothing happen', async () => {
  const { calls, served } = recorder();
  await serving([served], { ...both, routes: [api] }, async ({ url }) => {
    const look = bearer('look');
    for (const path of ['/api/machines', '/metrics', '/health/readiness'])
      expect([path, (await fetch(url + path, { headers: look })).status]).toEqual([path, 200]);
    expect((await fetch(`${url}/metrics`, { headers: look, method: 'HEAD' })).status).toBe(200);
    for (const more of [{}, eventHeaders()]) {
      const answer = await post(url, '{}', { ...look, ...more });
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { error: expect.stringContaining('BAMEL_TOKEN_FILE') },
      ]);
    }
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await fetch(`${url}/recorder`, { method, headers: look })).status).toBe(403);
    expect(calls).toEqual([]);
    expect((await post(url, '{}', bearer('act'))).status).toBe(200);
  });
  expect(calls).toHaveLength(1);
});

test('who may look does not say who may act', async () => {
  await expect(serving([], { readToken: both.readToken }, async () => undefined)).rejects.toThrow(
    'set BAMEL_TOKEN_FILE as well',
  );
});

describe('fault 39: accounts of Kubernetes: no or wrong credentials or audience → 401', () => {
  const answers: Record<string, Awaited<ReturnType<TokenReview>>> = { good: 'system:serviceaccount:bamel:a' };
  const review: TokenReview = async (token) => {
    if (token === 'away') throw new HttpError(503, 'callers cannot be checked just now');
    return answers[token];
  };

  test.each([
    ['good', 200],
    ['of-another-audience', 401],
    ['away', 503],
  ])('%s → %d', async (token, status) => {
    const { calls, served } = recorder();
    await serving([served], { host: '0.0.0.0', review }, async ({ port }) => {
      const url = `http://127.0.0.1:${port}`;
      expect((await post(url, '{}', bearer(token))).status).toBe(status);
      expect((await post(url, '{}')).status).toBe(401);
    });
    expect(calls).toHaveLength(status === 200 ? 1 : 0);
  });

  test('beside them the secret of the file still counts, and is not sent to anybody', async () => {
    const asked: string[] = [];
    const counting: TokenReview = async (token) => {
      asked.push(token);
      return undefined;
    };
    await serving([recorder().served], { ...both, review: counting }, async ({ url }) => {
      expect((await post(url, '{}', bearer('act'))).status).toBe(200);
      expect((await fetch(`${url}/metrics`, { headers: bearer('look') })).status).toBe(200);
      expect((await post(url, '{}', bearer('other'))).status).toBe(401);
    });
    expect(asked).toEqual(['other']);
  });
});

describe('the limit per caller', () => {
  const rateLimit = { perSecond: 1, burst: 3 };

  test('who sends too much is told to wait; the others are not', async () => {
    const { calls, served } = recorder();
    const metrics = createMetrics();
    const options = { ...both, rateLimit, metrics, token: async () => 'act\nother' };
    await serving([served], options, async ({ url }) => {
      const answers = [];
      for (let sent = 0; sent < 5; sent += 1) answers.push(await post(url, '{}', bearer('act')));
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(refused.length).toBeGreaterThan(0);
      for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect((await post(url, '{}', bearer('other'))).status).toBe(200);
      for (let asked = 0; asked < 10; asked += 1)
        expect((await fetch(`${url}/health/liveness`)).status).toBe(200);
      const counted = (await metrics.requestsRefused.get()).values;
      expect(counted).toMatchObject([{ labels: { reason: 'too-many' }, value: refused.length }]);
    });
    expect(calls.length).toBeLessThanOrEqual(5);
  });
});

describe('as the settings say', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bamel-door-'));
    await writeFile(join(folder, 'act'), 'act\n');
    await writeFile(join(folder, 'look'), 'look\n');
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function doorway(...args: string[]) {
    const read = readSettings(args, {});
    if (!('settings' in read)) throw new Error('help was asked for');
    const store = await openStore('embedded:');
    try {
      const inventory = createInventory(store, realClock);
      const door = serverOptionsOf(
        read.settings,
        { inventory, clock: realClock, log: memoryLog().log },
        kubeTransport({}),
      );
      await door.close();
      return door.doorway;
    } finally {
      await store.close();
    }
  }

  test('tokens, limits, ports and ages', async () => {
    const { token, readToken, review, rateLimit, events, healthPort } = await doorway(
      ...['--token-file', join(folder, 'act'), '--read-token-file', join(folder, 'look')],
      ...['--token-audience', 'bamel', '--rate-limit', '7', '--event-max-age', '5m', '--health-port', '0'],
    );
    expect([await token?.(), await readToken?.()]).toEqual(['act\n', 'look\n']);
    expect(review).toBeInstanceOf(Function);
    expect([rateLimit, events?.maxAgeMs, healthPort]).toEqual([{ perSecond: 7, burst: 14 }, 300_000, 0]);
    expect((await doorway('--rate-limit', '0')).rateLimit).toBeUndefined();
  });

  test('events are sent on with what Knative mounts, where it is there, or our own secret', async () => {
    const token = async (...files: [sink: string, own?: string]) => {
      const [sink, own] = files.map((file) => join(folder, file ?? ''));
      const read = readSettings(own ? ['--token-file', own] : [], { BAMEL_SINK_TOKEN_FILE: sink });
      return 'settings' in read ? sinkToken(read.settings)?.() : undefined;
    };
    expect(await token('look', 'act')).toBe('look\n');
    expect(await token('nowhere', 'act')).toBe('act\n');
    expect(await token('nowhere')).toBeUndefined();
  });

  test.each([
    [['--tls-cert', 'c'], 'belong together'],
    [['--tls-ca', 'c'], 'needs --tls-cert and --tls-key'],
  ])('%j: %s', async (args, message) => {
    await expect(doorway(...args)).rejects.toThrow(message);
  });

  test.each([
    [['--rate-limit', 'much'], 'write a whole number'],
    [['--callers', '*'], 'write names such as'],
    [['--event-max-age', '10ms'], 'write at least 1s'],
  ])('%j: %s', (args, message) => {
    expect(() => readSettings(args, {})).toThrow(message);
  });
});

test('insecure is warned about, once, and only where it is', async () => {
  const warned = async (options: Partial<ServeOptions>) => {
    const { log, lines } = memoryLog();
    await serving([recorder().served], { ...options, log }, async () => undefined);
    return lines.filter(({ msg }) => String(msg).startsWith('insecure')).length;
  };
  expect(await warned({ host: '0.0.0.0', insecure: true })).toBe(1);
  expect(await warned({ host: '127.0.0.1', insecure: true })).toBe(0);
  expect(await warned({ host: '0.0.0.0', insecure: true, token: async () => 'act' })).toBe(0);
});

test('health and metrics on a port of their own are for anybody, and nothing else is there', async () => {
  const { calls, served } = recorder();
  await serving([served], { ...both, healthPort: 0, routes: [api] }, async ({ url, healthUrl = '' }) => {
    for (const path of ['/health/liveness', '/health/readiness', '/metrics'])
      expect((await fetch(healthUrl + path)).status).toBe(200);
    expect((await fetch(`${healthUrl}/api/machines`)).status).toBe(404);
    expect((await post(`${healthUrl}/recorder`, '{}', bearer('act'))).status).toBe(404);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
  });
  expect(calls).toEqual([]);
});
