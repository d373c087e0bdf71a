import { setImmediate as turn } from 'node:timers/promises';
import { done, type Outcome, rejected, retryLater } from '../../shared/core/outcome.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { BamelEvent, DeadLetter } from '../../shared/ports/events.ts';
import { StoreError } from '../../shared/ports/store.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import type { FunctionDefinition } from '../../shared/server/function.ts';
import { createLocalSink, type LocalSinkOptions } from '../../shared/server/local-sink.ts';
import { type Call, memoryLog, recorder, until } from './harness.ts';

const event = (
  subject: string,
  data: Record<string, unknown> = {},
  type = 'dev.bamel.test.asked',
): BamelEvent => ({
  type,
  subject,
  data,
});

/** Sleeps end at once and are written down; or never, when held. */
function testClock(hold = false): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => 1_700_000_000_000,
    monotonic: () => 0,
    async sleep(ms, signal) {
      slept.push(ms);
      if (!hold) return;
      await new Promise<void>((resolve) => {
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve());
      });
    },
  };
}

function setup(
  end: (call: Call) => Promise<Outcome> | Outcome = () => done({}),
  options: Partial<LocalSinkOptions> = {},
  definition: Partial<FunctionDefinition> = {},
) {
  const { calls, served } = recorder(definition, end);
  const letters: DeadLetter[] = [];
  const clock = testClock();
  const { log, lines } = memoryLog();
  const deadLetters = { add: async (letter: DeadLetter) => void letters.push(letter) };
  const sink = createLocalSink({ functions: [served], clock, log, deadLetters, ...options });
  return { sink, calls, letters, clock, lines };
}

test('an event wakes every function that lists its type, and no other', async () => {
  const exact = recorder({ name: 'exact', wakesOn: ['dev.bamel.test.asked'] });
  const pattern = recorder({ name: 'pattern', wakesOn: ['dev.bamel.*'] });
  const other = recorder({ name: 'other', wakesOn: ['dev.bamel.test'] });
  const { sink } = setup(undefined, { functions: [exact, pattern, other].map(({ served }) => served) });
  await sink.emit(event('tower-1', { machine: 'tower-1' }));
  await sink.idle();
  expect([exact, pattern, other].map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
  expect(exact.calls).toMatchObject([
    {
      input: { machine: 'tower-1' },
      invocation: { trigger: 'dev.bamel.test.asked', id: expect.stringMatching(/^ev-/) },
    },
  ]);
});

test('never delivers inside the stack of emit', async () => {
  const { sink, calls } = setup();
  await sink.emit(event('a'));
  expect(calls).toEqual([]);
  await sink.idle();
  expect(calls).toHaveLength(1);
});

test('retry-later is delivered again, not before its time, with pauses that grow', async () => {
  let left = 4;
  const { sink, calls, letters, clock } = setup(() =>
    left-- > 0 ? retryLater(left === 3 ? 5_000 : 0, 'busy') : done({}),
  );
  await sink.emit(event('a'));
  await sink.idle();
  expect(calls).toHaveLength(5);
  expect(new Set(calls.map(({ invocation }) => invocation.id)).size).toBe(1);
  expect(clock.slept).toEqual([5_000, 400, 800, 1_600]);
  expect(letters).toEqual([]);
});

test.each<[string, () => Outcome, string, number[]]>([
  ['retry-later', () => retryLater(0, 'busy'), 'busy', [200, 300]],
  [
    'throwing',
    () => {
      throw new StoreError('unavailable', 'no quorum');
    },
    'no quorum',
    [1_000, 1_000],
  ],
])('%s for ever → a dead letter after as many tries as allowed', async (_name, end, lastError, pauses) => {
  const retry = { tries: 3, firstMs: 200, maxMs: 300 };
  const { sink, calls, letters, clock } = setup(end, { retry });
  await sink.emit(event('a', { machine: 'a' }));
  await sink.idle();
  expect(calls).toHaveLength(3);
  expect(clock.slept).toEqual(pauses);
  expect(letters).toEqual([
    { event: event('a', { machine: 'a' }), function: 'recorder', tries: 3, lastError, at: clock.now() },
  ]);
});

test('fault 42: a poison event becomes a dead letter at once, the rest goes on', async () => {
  const metrics = createMetrics();
  const end = ({ input }: Call) =>
    (input as { machine: string }).machine === 'bad' ? rejected('no such machine') : done({});
  const { sink, calls, letters } = setup(end, { metrics });
  for (const name of ['a', 'bad', 'b']) await sink.emit(event(name, { machine: name }));
  await sink.emit(event('c', { machien: 'c' }));
  await sink.idle();
  expect(calls).toHaveLength(3);
  expect(letters.map(({ tries, lastError }) => [tries, lastError]).sort()).toEqual([
    [1, 'machien: unknown field. Did you mean machine?'],
    [1, 'no such machine'],
  ]);
  expect(await metrics.registry.getSingleMetricAsString('bamel_events_dead_total')).toContain(
    'bamel_events_dead_total{function="recorder",reason="rejected"} 2',
  );
});

test('a dead letter that cannot be kept is logged, and nothing stops', async () => {
  const deadLetters = { add: () => Promise.reject(new StoreError('full', 'no space')) };
  const { sink, calls, lines } = setup(() => rejected('no'), { deadLetters });
  await sink.emit(event('a'));
  await sink.idle();
  await sink.emit(event('b'));
  await sink.idle();
  expect(calls).toHaveLength(2);
  expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
    { err: { message: 'no space' } },
    {},
  ]);
});

test('events for the same subject that have not started are one; the latest data counts', async () => {
  const { sink, calls } = setup();
  await sink.emit(event('a', { machine: 'old' }));
  await sink.emit(event('b'));
  await sink.emit(event('a', { machine: 'new' }));
  await sink.emit(event('a', {}, 'dev.bamel.test.other'));
  await sink.idle();
  expect(calls.map(({ input, invocation }) => [invocation.trigger, input])).toEqual([
    ['dev.bamel.test.asked', { machine: 'new' }],
    ['dev.bamel.test.asked', {}],
    ['dev.bamel.test.other', {}],
  ]);
});

test('an event that comes while the same is being handled is delivered after it', async () => {
  const first = Promise.withResolvers<void>();
  const { sink, calls } = setup(
    async () => {
      await first.promise;
      return done({});
    },
    { concurrency: 1 },
  );
  await sink.emit(event('a'));
  await until(() => calls.length === 1, 'the first to start');
  await sink.emit(event('a'));
  first.resolve();
  await sink.idle();
  expect(calls).toHaveLength(2);
});

test('a new event does not wait for the retry of an old one, and makes it unnecessary', async () => {
  let busy = true;
  const clock = testClock(true);
  const { sink, calls } = setup(() => (busy ? retryLater(3_600_000, 'busy') : done({})), { clock });
  await sink.emit(event('a'));
  await until(() => clock.slept.length === 1, 'the retry to wait');
  busy = false;
  await sink.emit(event('a'));
  await sink.idle();
  expect(calls).toHaveLength(2);
});

test('no more at a time per function than allowed', async () => {
  let running = 0;
  let most = 0;
  const { sink, calls } = setup(
    async () => {
      most = Math.max(most, ++running);
      await turn();
      running -= 1;
      return done({});
    },
    { concurrency: 3 },
  );
  for (let i = 0; i < 20; i++) await sink.emit(event(`m-${i}`));
  await sink.idle();
  expect([calls.length, most]).toEqual([20, 3]);
});

test('what does not fit into the queue is dropped, with one warning and a count', async () => {
  const metrics = createMetrics();
  const { sink, calls, lines, letters } = setup(undefined, { queueLimit: 10, metrics });
  for (let i = 0; i < 25; i++) await sink.emit(event(`m-${i}`));
  await sink.idle();
  expect([calls.length, letters.length]).toEqual([10, 0]);
  expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(await metrics.registry.getSingleMetricAsString('bamel_events_dead_total')).toContain(
    'reason="overflow"} 15',
  );
  await sink.emit(event('later'));
  await sink.idle();
  expect(calls).toHaveLength(11);
});

describe('close', () => {
  test('tells functions to stop, waits for them, drops what is only queued or waiting for a retry', async () => {
    const clock = testClock(true);
    const { sink, calls } = setup(
      ({ input, invocation }) => {
        if ((input as { machine: string }).machine === 'retried') return retryLater(1_000, 'busy');
        return new Promise((resolve) => {
          invocation.signal.addEventListener('abort', () => setImmediate(() => resolve(done({}))));
        });
      },
      { clock, concurrency: 1 },
    );
    await sink.emit(event('r', { machine: 'retried' }));
    await until(() => clock.slept.length === 1, 'the retry to wait');
    await sink.emit(event('a', { machine: 'a' }));
    await until(() => calls.length === 2, 'the second to start');
    await sink.emit(event('b', { machine: 'b' }));
    await sink.close();
    await sink.emit(event('c', { machine: 'c' }));
    await sink.idle();
    expect(calls.map(({ input }) => input)).toEqual([{ machine: 'retried' }, { machine: 'a' }]);
  });

  test('does not wait for ever', async () => {
    const { sink, calls, clock, lines } = setup(() => new Promise(() => undefined));
    await sink.emit(event('a'));
    await until(() => calls.length === 1, 'it to start');
    await sink.close(7_000);
    expect(clock.slept).toEqual([7_000]);
    expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', patienceMs: 7_000 }));
  });
});
