import { createTriggers, resultOf } from '../../functions/evaluate-scaling/triggers.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { defaultPool, type PoolSpec } from '../../shared/core/settings.ts';
import { type Measured, MetricsError } from '../../shared/ports/metrics.ts';
import type { Store } from '../../shared/ports/store.ts';
import { createLog } from '../../shared/process/log.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { maxGapMs } from '../../shared/state/triggers.ts';

const log = createLog({ level: 'silent', format: 'json' });
const minute = 60_000;
const pool = (parts: Partial<PoolSpec['triggers'][number]> = {}): PoolSpec => ({
  ...defaultPool,
  name: 'rack',
  triggers: [
    { name: 'queue', metricQuery: 'q', threshold: 10, durationMs: 0, scaleDirection: 'up', ...parts },
  ],
});

let store: Store;
beforeEach(async () => {
  store = await openStore('embedded:');
});
afterEach(() => store.close());

/** A process that asks, on a clock of the test. */
function start(answer: () => Promise<Measured>) {
  const state = { now: Date.UTC(2026, 0, 1), asked: [] as string[] };
  const clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const read = createTriggers({
    inventory: createInventory(store, clock),
    metricsSource: {
      query: async (expression) => {
        state.asked.push(expression);
        return answer();
      },
    },
    clock,
    log,
  });
  return {
    state,
    read,
    async evaluate(pools: readonly PoolSpec[] = [pool()]) {
      const { readings, save: remember } = await read(pools);
      const lease = await store.acquire('evaluate', 10_000, 'test');
      if (!lease) throw new Error('somebody holds the lease');
      await remember(lease);
      await lease.release();
      return readings[0];
    },
  };
}

describe('the number that counts', () => {
  const at = 1_000_000;
  test.each<[string, Measured, object]>([
    ['one', { at, values: [3] }, { value: 3 }],
    [
      'of several series the highest',
      { at, values: [3, 9, Number.NaN, 4] },
      { value: 9, note: 'its query gives 4 series: the highest number counts' },
    ],
    ['no data', { at: Number.POSITIVE_INFINITY, values: [] }, { note: expect.stringMatching(/no data/) }],
    ['NaN', { at, values: [Number.NaN] }, { note: expect.stringMatching(/no number/) }],
    ['infinite', { at, values: [Number.POSITIVE_INFINITY] }, { note: expect.stringMatching(/no number/) }],
    ['stale', { at: at - 61_000, values: [3] }, { note: 'the answer of Prometheus is as of 61 s ago' }],
    [
      'of a clock that is ahead',
      { at: at + 120_000, values: [3] },
      { note: 'the answer of Prometheus is as of 120 s from now' },
    ],
  ])('%s', (_what, measured, found) => {
    expect(resultOf(measured, at)).toEqual(found);
  });
});

test('since when: from the first number beyond the threshold, over restarts', async () => {
  let value = 5;
  const first = start(async () => ({ at: first.state.now, values: [value] }));
  const began = first.state.now;
  expect(await first.evaluate()).toEqual({ pool: 'rack', trigger: 'queue', value: 5, since: began });
  value = 11;
  first.state.now += minute;
  expect(await first.evaluate()).toMatchObject({ value: 11, since: began + minute });

  const second = start(async () => ({ at: second.state.now, values: [value] }));
  second.state.now = began + 4 * minute;
  expect(await second.evaluate()).toMatchObject({ value: 11, since: began + minute });
  value = 10;
  second.state.now += minute;
  expect(await second.evaluate()).toMatchObject({ value: 10, since: second.state.now });
});

test('a gap that is short does not begin it anew; a long one does: nobody knows what happened', async () => {
  let answer = async (): Promise<Measured> => ({ at: world.state.now, values: [11] });
  const world = start(() => answer());
  const began = world.state.now;
  await world.evaluate();
  const numbers = answer;
  answer = async () => {
    throw new MetricsError('Prometheus did not answer in time');
  };
  world.state.now += 2 * minute;
  expect(await world.evaluate()).toEqual({
    pool: 'rack',
    trigger: 'queue',
    unknown: true,
    note: 'Prometheus did not answer in time',
    since: world.state.now,
  });
  answer = numbers;
  world.state.now += minute;
  expect(await world.evaluate()).toMatchObject({ value: 11, since: began });
  world.state.now += maxGapMs + 1;
  expect(await world.evaluate()).toMatchObject({ value: 11, since: world.state.now });
});

test('another threshold begins anew; a trigger that is gone is forgotten', async () => {
  const world = start(async () => ({ at: world.state.now, values: [11] }));
  await world.evaluate();
  world.state.now += minute;
  expect(await world.evaluate([pool({ threshold: 9 })])).toMatchObject({ since: world.state.now });
  await world.evaluate([pool({ name: 'other' })]);
  const kept = JSON.parse((await store.get('/baremetal/global/triggers'))?.value ?? '{}');
  expect(kept.times.map(({ trigger }: { trigger: string }) => trigger)).toEqual(['other']);
});

test('nothing is written while nothing changes', async () => {
  const world = start(async () => ({ at: world.state.now, values: [11] }));
  await world.evaluate();
  const before = await store.get('/baremetal/global/triggers');
  world.state.now += 30_000;
  await world.evaluate();
  expect(await store.get('/baremetal/global/triggers')).toEqual(before);
});

test('one query is asked once for all pools and for a second; who fails is left alone for ten', async () => {
  let fails = false;
  const world = start(async () => {
    if (fails) throw new MetricsError('no');
    return { at: world.state.now, values: [1] };
  });
  const pools = [pool(), { ...pool(), name: 'other' }];
  await world.read(pools);
  await world.read(pools);
  expect(world.state.asked).toEqual(['q']);
  world.state.now += 1_000;
  fails = true;
  await world.read(pools);
  world.state.now += 9_000;
  expect((await world.read(pools)).readings).toMatchObject([{ note: 'no' }, { note: 'no' }]);
  expect(world.state.asked).toEqual(['q', 'q']);
  world.state.now += 1_000;
  await world.read(pools);
  expect(world.state.asked).toEqual(['q', 'q', 'q']);
});

test('without a Prometheus it is said, and without triggers nobody is asked', async () => {
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
  const read = createTriggers({ inventory: createInventory(store, clock), clock, log });
  expect((await read([pool()])).readings).toEqual([
    {
      pool: 'rack',
      trigger: 'queue',
      unknown: true,
      since: 0,
      note: 'there is no Prometheus to ask: set BAMEL_PROMETHEUS_URL',
    },
  ]);
  const world = start(async () => ({ at: 0, values: [] }));
  expect((await world.read([{ ...defaultPool, name: 'rack' }])).readings).toEqual([]);
  expect(world.state.asked).toEqual([]);
});
