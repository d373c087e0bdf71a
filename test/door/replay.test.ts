import { openStore } from '../../shared/adapters/store/open-store.ts';
import { retryLater } from '../../shared/core/outcome.ts';
import { type Store, StoreError } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { createSeenEvents } from '../../shared/state/seen-events.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { eventHeaders, post, recorder, serving, structured } from '../runtime/harness.ts';

const maxAgeMs = 60_000;
const now = Date.parse('2026-11-16T12:00:00Z');
const clock = { ...realClock, now: () => now };
const at = (offsetMs: number) => new Date(now + offsetMs).toISOString();

let store: Store;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  store = await openStore('embedded:');
  cleanup.defer(() => store.close());
});
afterAll(() => cleanup.disposeAsync());

/** What a process would have: ids shared through the store. */
function guard(from = store) {
  const seen = createSeenEvents(from, clock, maxAgeMs);
  cleanup.defer(() => seen.close());
  return { events: { maxAgeMs, seen, clock } };
}
const named = (id: string, more: Record<string, string> = {}) => eventHeaders({ 'ce-id': id, ...more });

describe('fault 38: replayed event → id remembered, max age', () => {
  test('the same source and id twice: answered 204, handled once, and counted', async () => {
    const { calls, served } = recorder();
    const metrics = createMetrics();
    await serving([served], { ...guard(), metrics }, async ({ url }) => {
      for (const times of [1, 2, 3]) {
        expect((await post(url, '{}', named('twice'))).status).toBe(204);
        expect([times, calls.length]).toEqual([times, 1]);
      }
      expect((await post(url, '{}', named('twice', { 'ce-source': '/other' }))).status).toBe(204);
      expect(calls).toHaveLength(2);
    });
    expect((await metrics.eventsRepeated.get()).values).toMatchObject([
      { labels: { function: 'recorder' }, value: 2 },
    ]);
  });

  test('another process on the same store knows it too, and so does one that starts afterwards', async () => {
    const { seen } = guard().events;
    const { seen: other } = guard().events;
    expect(await other.has('shared')).toBe(false);
    await seen.add('shared');
    await eventually(async () => expect(await other.has('shared')).toBe(true));
    await serving([recorder().served], guard(), async ({ url }) => {
      await post(url, '{}', named('shared'));
    });
    const late = recorder();
    await serving([late.served], guard(), async ({ url }) => {
      expect((await post(url, '{}', named('shared'))).status).toBe(204);
    });
    expect(late.calls).toEqual([]);
  });

  test('sent many times at once, it is handled once', async () => {
    const { calls, served } = recorder();
    await serving([served], guard(), async ({ url }) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(url, '{}', named('storm'))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    });
    expect(calls).toHaveLength(1);
  });

  test('the answer does not wait until it is remembered, and it is known meanwhile', async () => {
    const { calls, served } = recorder();
    const written = Promise.withResolvers<void>();
    const seen = { has: async () => false, add: () => written.promise };
    await serving([served], { events: { maxAgeMs, seen, clock } }, async ({ url }) => {
      for (const _ of [1, 2]) expect((await post(url, '{}', named('slow'))).status).toBe(204);
      expect(calls).toHaveLength(1);
      written.resolve();
      // Now whoever remembers is asked, and this one does not.
      await eventually(async () => {
        await post(url, '{}', named('slow'));
        expect(calls).toHaveLength(2);
      });
    });
  });

  test('each function is woken by it, and a batch handles only what is new', async () => {
    const one = recorder();
    const other = recorder({ name: 'other' });
    await serving([one.served, other.served], guard(), async ({ url }) => {
      for (const name of ['recorder', 'other']) await post(`${url}/${name}`, '{}', named('both'));
      const batch = JSON.stringify([structured({ id: 'both' }), structured({ id: 'fresh' })]);
      const type = { 'content-type': 'application/cloudevents-batch+json' };
      expect((await post(`${url}/other`, batch, type)).status).toBe(204);
    });
    expect(one.calls).toHaveLength(1);
    expect(other.calls.map(({ invocation }) => invocation.id)).toEqual(['both', 'fresh']);
  });

  test('what is to be sent again is handled again', async () => {
    const outcomes = [retryLater(1_000, 'busy')];
    const { calls, served } = recorder({}, () => outcomes.shift() ?? { kind: 'done', answer: undefined });
    await serving([served], guard(), async ({ url }) => {
      const statuses = [];
      for (const _ of [1, 2, 3]) statuses.push((await post(url, '{}', named('again'))).status);
      expect(statuses).toEqual([503, 204, 204]);
    });
    expect(calls).toHaveLength(2);
  });

  test.each([
    ['too old', at(-maxAgeMs - 1_000), 400],
    ['just in time', at(-maxAgeMs + 1_000), 204],
    ['from a clock that is a little ahead', at(60_000), 204],
    ['from the future', at(3_600_000), 400],
    ['from another time zone', '2026-11-16T14:00:00+02:00', 204],
  ])('%s: %s → %d', async (what, time, status) => {
    const { calls, served } = recorder();
    await serving([served], guard(), async ({ url }) => {
      const answer = await post(url, '{}', named(`time ${what}`.replaceAll(' ', '-'), { 'ce-time': time }));
      expect(answer.status).toBe(status);
      if (status === 400) expect(await answer.json()).toMatchObject({ attribute: 'time' });
    });
    expect(calls).toHaveLength(status === 204 ? 1 : 0);
  });

  test('one stale event in a batch: none of it is handled', async () => {
    const { calls, served } = recorder();
    await serving([served], guard(), async ({ url }) => {
      const events = [structured({ id: 'fine' }), structured({ id: 'old', time: at(-3_600_000) })];
      const type = { 'content-type': 'application/cloudevents-batch+json' };
      expect((await post(url, JSON.stringify(events), type)).status).toBe(400);
    });
    expect(calls).toEqual([]);
  });

  test('what takes any event takes old ones too, as often as they come', async () => {
    const { calls, served } = recorder({ takesAnyEvent: true });
    await serving([served], guard(), async ({ url }) => {
      for (const _ of [1, 2])
        expect((await post(url, '{}', named('dead', { 'ce-time': at(-86_400_000) }))).status).toBe(204);
    });
    expect(calls).toHaveLength(2);
  });
});

describe('the ids in the store', () => {
  const idKeys = async (from: Store) => (await from.list('/baremetal/seen/ids-')).entries;

  test('many at once are few commits; what is too old, or too many, goes', async () => {
    await using own = await openOwn();
    let time = now;
    const seen = createSeenEvents(own.store, { ...clock, now: () => time }, maxAgeMs);
    await seen.has('anything');
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => seen.add(`id-${index}`)));
    expect((await idKeys(own.store)).length).toBeLessThanOrEqual(6);
    expect(await seen.has('id-0')).toBe(true);
    time += maxAgeMs + 1;
    await seen.add('later');
    expect(await idKeys(own.store)).toHaveLength(1);
    expect(await seen.has('id-0')).toBe(false);
    await Promise.all(Array.from({ length: 25_000 }, (_, index) => seen.add(`more-${index}`)));
    await seen.add('last');
    const kept = (await idKeys(own.store)).flatMap(({ value }) => JSON.parse(value).ids);
    expect(kept.length).toBeLessThanOrEqual(20_500);
    expect(kept).toContain('last');
    await seen.close();
  });

  test('those that came one by one are made few, and none is forgotten by it', async () => {
    await using own = await openOwn();
    const seen = createSeenEvents(own.store, clock, maxAgeMs);
    const watching = createSeenEvents(own.store, clock, maxAgeMs);
    expect([await seen.has('anything'), await watching.has('anything')]).toEqual([false, false]);
    const ids = Array.from({ length: 600 }, (_, index) => `id-${index}`);
    for (const id of ids) await seen.add(id);
    expect((await idKeys(own.store)).length).toBeLessThanOrEqual(10);
    await eventually(async () => expect(await watching.has('id-599')).toBe(true));
    const fresh = createSeenEvents(own.store, clock, maxAgeMs);
    for (const known of [seen, watching, fresh]) {
      for (const id of ids) expect([id, await known.has(id)]).toEqual([id, true]);
      await known.close();
    }
  });

  test('a store that is away: the event is to be sent again; one that was handled is not', async () => {
    let away: 'watch' | 'commit' | undefined = 'watch';
    const gone = () => Promise.reject(new StoreError('unavailable', 'the store is away'));
    const shaky: Store = {
      ...bound(store),
      watch: (...args) => (away === 'watch' ? gone() : store.watch(...args)),
      commit: (...args) => (away === 'commit' ? gone() : store.commit(...args)),
    };
    const { calls, served } = recorder();
    await serving([served], guard(shaky), async ({ url }) => {
      expect((await post(url, '{}', named('away'))).status).toBe(503);
      expect(calls).toEqual([]);
      away = 'commit';
      expect((await post(url, '{}', named('away'))).status).toBe(204);
      away = undefined;
    });
    expect(calls).toHaveLength(1);
  });

  test('rubbish under its keys harms nobody', async () => {
    await using own = await openOwn();
    await own.store.commit([], [{ put: '/baremetal/seen/ids-0rubbish', value: '{"ids":7' }]);
    const seen = createSeenEvents(own.store, clock, maxAgeMs);
    expect(await seen.has('anything')).toBe(false);
    await seen.add('anything');
    expect((await idKeys(own.store)).map(({ key }) => key)).not.toContain('/baremetal/seen/ids-0rubbish');
    await seen.close();
  });
});

async function openOwn() {
  const own = await openStore('embedded:');
  return { store: own, [Symbol.asyncDispose]: () => own.close() };
}

/** Its methods, which are not its own properties. */
const bound = (from: Store): Store => ({
  get: (key) => from.get(key),
  list: (prefix) => from.list(prefix),
  commit: (...args) => from.commit(...args),
  watch: (...args) => from.watch(...args),
  acquire: (...args) => from.acquire(...args),
  close: () => from.close(),
});
