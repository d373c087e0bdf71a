import { z } from 'zod';
import { done, rejected, retryLater } from '../../shared/core/outcome.ts';
import { ClusterError } from '../../shared/ports/cluster.ts';
import { PowerError } from '../../shared/ports/power.ts';
import { StoreError } from '../../shared/ports/store.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { eventHeaders, memoryLog, post, recorded, recorder, serving, structured } from './harness.ts';

describe('routes', () => {
  test('a function answers under its name; alone also on /', async () => {
    const one = recorder({ name: 'one' });
    await serving([one.served], {}, async ({ url }) => {
      expect((await post(`${url}/one`, '{}')).status).toBe(200);
      expect((await post(`${url}/`, '{}')).status).toBe(200);
    });
    await serving([one.served, recorder({ name: 'two' }).served], {}, async ({ url }) => {
      expect((await post(`${url}/two?x=1`, '{}')).status).toBe(200);
      expect((await post(`${url}/`, '{}')).status).toBe(404);
    });
    expect(one.calls).toHaveLength(2);
  });

  test('404 and 405 say what there is', async () => {
    await serving([recorder().served], {}, async ({ url }) => {
      const missing = await fetch(`${url}/recroder`);
      expect(missing.status).toBe(404);
      expect(await missing.json()).toMatchObject({
        routes: expect.arrayContaining(['POST /recorder', 'GET /metrics']),
      });
      const wrong = await fetch(`${url}/recorder`, { method: 'PUT', body: '{}' });
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    });
  });

  test('liveness and readiness, with the reason', async () => {
    let reason: string | undefined = 'etcd: no quorum';
    await serving([recorder().served], { ready: async () => reason }, async ({ url }) => {
      expect((await fetch(`${url}/health/liveness`)).status).toBe(200);
      const unready = await fetch(`${url}/health/readiness`);
      expect([unready.status, await unready.json()]).toEqual([503, { ready: false, reason }]);
      reason = undefined;
      const ready = await fetch(`${url}/health/readiness`);
      expect([ready.status, await ready.json()]).toEqual([200, { ready: true }]);
    });
  });

  test('a readiness check that hangs is a reason not to be ready, is asked once, and recovers', async () => {
    const hanging = Promise.withResolvers<undefined>();
    let asked = 0;
    const ready = () => {
      asked += 1;
      return hanging.promise;
    };
    await serving([recorder().served], { ready }, async ({ url }) => {
      for (let probe = 0; probe < 2; probe += 1) {
        const answer = await fetch(`${url}/health/readiness`);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          { ready: false, reason: expect.stringContaining('no result') },
        ]);
      }
      expect(asked).toBe(1);
      hanging.resolve(undefined);
      expect((await fetch(`${url}/health/readiness`)).status).toBe(200);
    });
  });

  test('while a check hangs, the reason is that of the last one that ended', async () => {
    const checks = [async () => 'the store is away', () => new Promise<undefined>(() => undefined)];
    const ready = () => (checks.shift() ?? (() => Promise.resolve(undefined)))();
    await serving([recorder().served], { ready }, async ({ url }) => {
      for (let probe = 0; probe < 2; probe += 1) {
        const answer = await fetch(`${url}/health/readiness`);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          { ready: false, reason: 'the store is away' },
        ]);
      }
    });
  });

  test('a readiness check that throws is a reason not to be ready', async () => {
    const ready = () => Promise.reject(new StoreError('unavailable', 'etcd does not answer'));
    await serving([], { ready }, async ({ url }) => {
      const answer = await fetch(`${url}/health/readiness`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { ready: false, reason: 'etcd does not answer' },
      ]);
    });
  });

  test('metrics count by function, trigger and outcome; the trigger is the pattern, not what senders make up', async () => {
    await serving([recorder().served], { metrics: createMetrics() }, async ({ url }) => {
      await post(url, '{}');
      await post(url, '', eventHeaders({ 'ce-type': 'dev.bamel.test.made-up-1' }));
      await post(url, '', eventHeaders({ 'ce-type': 'dev.bamel.test.made-up-2' }));
      const text = await (await fetch(`${url}/metrics`)).text();
      const count = (trigger: string) =>
        `bamel_function_invocations_total{function="recorder",trigger="${trigger}",outcome="done"}`;
      expect(text).toContain(`${count('by-hand')} 1`);
      expect(text).toContain(`${count('dev.bamel.test.*')} 2`);
      expect(text).not.toContain('made-up');
      expect(text).toContain('bamel_function_duration_seconds_count{function="recorder"} 3');
      expect(text).toContain('bamel_process_cpu_seconds_total');
    });
  });

  test('more routes can be added, also for everything below a path', async () => {
    const respond = async () => ({ status: 200, body: 'console', headers: { 'content-type': 'text/html' } });
    await serving([], { routes: [{ method: 'GET', path: '/console/*', respond }] }, async ({ url }) => {
      expect(await (await fetch(`${url}/console/a/b`)).text()).toBe('console');
    });
  });
});

describe('plain JSON', () => {
  test('a JSON answer a person can read', async () => {
    await serving([recorder({}, () => done({ summary: 'nothing to do' })).served], {}, async ({ url }) => {
      const answer = await post(url, '{"dryRun":true}');
      expect(answer.headers.get('content-type')).toMatch('application/json');
      expect(await answer.text()).toBe('{\n  "summary": "nothing to do"\n}\n');
    });
  });

  test.each([
    ['as curl -d sends it', '{"dryRun":true}', 'application/x-www-form-urlencoded', { dryRun: true }],
    ['with a charset', '{"dryRun":true}', 'application/json; charset="UTF-8"', { dryRun: true }],
    ['with a byte order mark', '\ufeff{"dryRun":true}', 'application/json', { dryRun: true }],
    ['empty', '', 'application/json', {}],
  ])('%s', async (_name, body, contentType, input) => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      expect((await post(url, body, { 'content-type': contentType })).status).toBe(200);
    });
    expect(calls).toMatchObject([
      { input, invocation: { trigger: 'by-hand', id: expect.stringMatching(/^req-/) } },
    ]);
  });

  test.each([
    ['{"dryrun":true}', 'dryrun', 'dryrun: unknown field. Did you mean dryRun?'],
    ['{"dryRun":"yes"}', 'dryRun', 'dryRun: expected boolean, received string'],
    ['{"power":"of"}', 'power', 'power: expected one of "on"|"off"'],
    ['[]', '', 'expected object, received array'],
    ['null', '', 'expected object, received null'],
  ])('%s → 400 that names the field and what is allowed', async (body, field, error) => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const answer = await post(url, body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ field, error });
    });
    expect(calls).toEqual([]);
  });

  test('an unknown field deep inside is compared with its neighbours', async () => {
    const machine = z.strictObject({ powerInterface: z.string().optional() });
    const input = z.strictObject({ machines: z.array(machine).optional() });
    await serving([recorder({ input }).served], {}, async ({ url }) => {
      const answer = await post(url, '{"machines":[{},{"powerInterfcae":"wol"}]}');
      expect(await answer.json()).toEqual({
        error: 'machines[1].powerInterfcae: unknown field. Did you mean powerInterface?',
        field: 'machines[1].powerInterfcae',
        allowed: ['powerInterface'],
      });
    });
  });

  test.each([
    ['text/plain', 'content type text/plain is not understood'],
    ['application/json; charset=latin1', 'charset latin1 is not understood: send UTF-8'],
  ])('%s → 415', async (contentType, error) => {
    await serving([recorder().served], {}, async ({ url }) => {
      const answer = await post(url, '{}', { 'content-type': contentType });
      expect([answer.status, await answer.json()]).toMatchObject([415, { error }]);
    });
  });

  test('a compressed body → 415', async () => {
    await serving([recorder().served], {}, async ({ url }) => {
      expect((await post(url, '{}', { 'content-encoding': 'gzip' })).status).toBe(415);
    });
  });

  test.each(['alertmanager-0.25-firing', 'alertmanager-0.25-resolved', 'alertmanager-0.33-firing'])(
    'the raw webhook of %s reaches a function that takes it',
    async (name) => {
      const { headers, body } = recorded(name);
      const { calls, served } = recorder({
        input: z.looseObject({ alerts: z.array(z.unknown()).optional() }),
      });
      await serving([served], {}, async ({ url }) => {
        expect((await post(url, JSON.stringify(body), headers)).status).toBe(200);
      });
      expect(calls).toMatchObject([{ input: body }]);
    },
  );
});

describe('CloudEvents', () => {
  test.each([
    'apiserversource-node-add',
    'apiserversource-node-update',
    'apiserversource-node-delete',
    'apiserversource-ref-add',
    'apiserversource-ref-update',
  ])('%s as recorded wakes the function; its data is not looked at', async (name) => {
    const { headers, body } = recorded(name);
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const answer = await post(url, JSON.stringify(body), headers);
      expect([answer.status, await answer.text()]).toEqual([204, '']);
    });
    expect(calls).toMatchObject([
      { input: {}, invocation: { trigger: headers['ce-type'], id: headers['ce-id'] } },
    ]);
  });

  const data = { machine: 'tower-1' };
  const batch = [structured({ id: 'a', data }), structured({ id: 'b' })];
  test.each<[string, unknown, Record<string, string>, unknown[]]>([
    ['binary', data, eventHeaders(), [data]],
    ['structured', structured({ data }), { 'content-type': 'application/cloudevents+json' }, [data]],
    [
      'structured with a charset',
      structured({ data }),
      { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
      [data],
    ],
    ['batch', batch, { 'content-type': 'application/cloudevents-batch+json' }, [data, {}]],
    ['empty batch', [], { 'content-type': 'application/cloudevents-batch+json' }, []],
  ])(
    '%s: the data of our own events is the input, answered with an empty 204',
    async (_mode, body, headers, inputs) => {
      const { calls, served } = recorder();
      await serving([served], {}, async ({ url }) => {
        const answer = await post(url, JSON.stringify(body), headers);
        expect([answer.status, await answer.text()]).toEqual([204, '']);
      });
      expect(calls.map(({ input }) => input)).toEqual(inputs);
    },
  );

  test("others' events may carry any kind of data", async () => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const headers = eventHeaders({ 'ce-type': 'dev.knative.sources.ping', 'content-type': 'text/plain' });
      expect((await post(url, 'tick', headers)).status).toBe(204);
    });
    expect(calls).toMatchObject([{ input: {}, invocation: { trigger: 'dev.knative.sources.ping' } }]);
  });

  test.each<[string, unknown, Record<string, string>, string]>([
    ['no source', {}, { ...eventHeaders(), 'ce-source': '' }, 'CloudEvent source: missing'],
    ['no id', structured({ id: undefined }), {}, 'CloudEvent id: missing'],
    ['an empty id', structured({ id: '' }), {}, 'CloudEvent id: Too small'],
    ['no specversion', structured({ specversion: null }), {}, 'CloudEvent specversion: '],
    ['another specversion', structured({ specversion: '0.3' }), {}, 'CloudEvent specversion: expected "1.0"'],
    ['a time that is none', structured({ time: 'noon' }), {}, 'CloudEvent time: Invalid ISO datetime'],
    [
      'a type that is no text',
      structured({ type: 5 }),
      {},
      'CloudEvent type: expected string, received number',
    ],
    ['a structured extension', structured({ team: { a: 1 } }), {}, 'CloudEvent team: '],
    [
      'a bad attribute name',
      structured({ teamName: 'x' }),
      {},
      'CloudEvent not valid: invalid extension name: teamName',
    ],
    ['no object', [], {}, 'CloudEvent expected object, received array'],
    [
      'a type that does not wake it',
      structured({ type: 'com.example' }),
      {},
      'recorder is not woken by events of type com.example',
    ],
    [
      'data that does not fit',
      structured({ data: { dryrun: 1 } }),
      {},
      'dryrun: unknown field. Did you mean dryRun?',
    ],
    ['data that is no JSON', structured({ data_base64: 'AAAA' }), {}, 'expected object, received string'],
    ['base64 that is none', structured({ data_base64: '!' }), {}, 'CloudEvent data_base64: '],
  ])('%s → 400, which Knative does not deliver again', async (_name, body, headers, error) => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const answer = await post(url, JSON.stringify(body), {
        'content-type': 'ce-source' in headers ? 'application/json' : 'application/cloudevents+json',
        ...headers,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: expect.stringContaining(error) });
    });
    expect(calls).toEqual([]);
  });

  test('binary with malformed JSON → 400, not a string as data', async () => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      expect((await post(url, '{"machine":', eventHeaders())).status).toBe(400);
    });
    expect(calls).toEqual([]);
  });

  test('one bad event in a batch → 400, none is handled', async () => {
    const { calls, served } = recorder();
    await serving([served], {}, async ({ url }) => {
      const body = JSON.stringify([structured(), structured({ type: 'com.example' })]);
      expect((await post(url, body, { 'content-type': 'application/cloudevents-batch+json' })).status).toBe(
        400,
      );
    });
    expect(calls).toEqual([]);
  });

  test.each([
    [['done', 'done'], 204],
    [['done', 'rejected'], 422],
    [['rejected', 'retry-later', 'done'], 503],
  ])('a batch that ends %j → %d, each handled once', async (kinds, status) => {
    const outcomes = { done: done({}), rejected: rejected('no'), 'retry-later': retryLater(1, 'busy') };
    const { calls, served } = recorder(
      {},
      ({ invocation }) => outcomes[invocation.id as keyof typeof outcomes],
    );
    await serving([served], {}, async ({ url }) => {
      const body = JSON.stringify(kinds.map((id) => structured({ id })));
      expect((await post(url, body, { 'content-type': 'application/cloudevents-batch+json' })).status).toBe(
        status,
      );
    });
    expect(calls.map(({ invocation }) => invocation.id)).toEqual(kinds);
  });
});

describe('outcomes', () => {
  const cases: [
    string,
    () => Promise<never> | ReturnType<typeof done>,
    number,
    string | null,
    object | string,
  ][] = [
    ['retry-later', () => retryLater(1_500, 'busy'), 503, '2', { error: 'busy', retryAfterSeconds: 2 }],
    ['retry-later at once', () => retryLater(0, 'busy'), 503, '1', { error: 'busy', retryAfterSeconds: 1 }],
    ['rejected', () => rejected('no such machine'), 422, null, { error: 'no such machine' }],
    [
      'StoreError',
      () => Promise.reject(new StoreError('ambiguous', 'no quorum')),
      503,
      '1',
      { error: 'no quorum' },
    ],
    [
      'ClusterError',
      () => Promise.reject(new ClusterError('unavailable', 'busy', { retryAfterMs: 7_000 })),
      503,
      '7',
      { error: 'busy' },
    ],
    [
      'PowerError',
      () => Promise.reject(new PowerError('timeout', 'BMC silent')),
      503,
      '1',
      { error: 'BMC silent' },
    ],
    [
      'a bug',
      () => Promise.reject(new TypeError('x is undefined')),
      503,
      '1',
      { error: expect.stringMatching(/^internal error, look for id req-/) },
    ],
  ];

  test.each(cases)('%s, by hand', async (_name, end, status, retryAfter, body) => {
    await serving([recorder({}, end).served], {}, async ({ url }) => {
      const answer = await post(url, '{}');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
      expect(await answer.json()).toMatchObject(body as object);
    });
  });

  test.each(cases)(
    '%s, to an event: nothing in a body that is to be delivered again',
    async (_name, end, status, retryAfter) => {
      await serving([recorder({}, end).served], {}, async ({ url }) => {
        const answer = await post(url, '', eventHeaders());
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
        if (status === 503) expect(await answer.text()).toBe('');
      });
    },
  );

  test('a bug is logged with its stack and the id that the caller got; the caller gets no more', async () => {
    const { log, lines } = memoryLog();
    const bug = () => Promise.reject(new TypeError('secret detail'));
    await serving([recorder({}, bug).served], { log }, async ({ url }) => {
      const { error } = (await (await post(url, '{}')).json()) as { error: string };
      const line = lines.find(({ level }) => level === 'error');
      expect(line).toMatchObject({
        function: 'recorder',
        err: { stack: expect.stringContaining('serve.test.ts') },
      });
      expect(error).toContain(line?.id);
      expect(error).not.toContain('secret detail');
    });
  });

  test('an answer that cannot be written as JSON is a bug too, not a hang', async () => {
    await serving([recorder({}, () => done({ big: 1n })).served], {}, async ({ url }) => {
      expect((await post(url, '{}')).status).toBe(503);
    });
  });
});
