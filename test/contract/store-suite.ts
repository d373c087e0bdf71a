import type { Condition, Entry, Lease, Store, StoreChange, Write } from '../../shared/ports/store.ts';
import { keys } from '../../shared/state/keys.ts';
import { waitFor } from '../../tools/real-stack/wait.ts';
import { fc } from '../../tools/support/seeded.ts';
import { randomCommits } from './store-model.ts';

export type StoreHarness = {
  readonly store: Store;
  /** Another handle on the same data, as another process would have; the same one where there is only one. */
  another(): Promise<Store>;
  close(): Promise<void>;
};

/** What every store does. `runs`: how many random histories to compare with a plain Map. */
export function storeContract(name: string, open: () => Promise<StoreHarness>, { runs = 100 } = {}): void {
  describe(name, () => {
    let harness: StoreHarness | undefined;
    let store: Store;
    let another: StoreHarness['another'];
    let root: string;
    let count = 0;

    beforeAll(async () => {
      harness = await open();
      ({ store, another } = harness);
    });
    afterAll(() => harness?.close());
    beforeEach(() => {
      root = `/test/${++count}/`;
    });

    const put = (key: string, value: string): Write => ({ put: `${root}${key}`, value });
    const remove = (key: string): Write => ({ delete: `${root}${key}` });
    const get = (key: string) => store.get(`${root}${key}`);
    const write = (...writes: Write[]) => store.commit([], writes);
    const values = async () => {
      const { entries } = await store.list(root);
      return Object.fromEntries(entries.map(({ key, value }) => [key.slice(root.length), value]));
    };

    describe('get, put, delete', () => {
      test('a key that was never written is not there', async () => {
        expect(await get('nothing')).toBeUndefined();
      });

      test('a key has the revision of its last write and of its creation', async () => {
        const first = await write(put('a', '1'));
        const second = await write(put('a', '2'));
        expect(second.revision).toBeGreaterThan(first.revision);
        expect(await get('a')).toEqual({
          key: `${root}a`,
          value: '2',
          revision: second.revision,
          created: first.revision,
        });
      });

      test('a key that is deleted and written again is a new one', async () => {
        const first = await write(put('a', '1'));
        await write(remove('a'));
        expect(await get('a')).toBeUndefined();
        const again = await write(put('a', '1'));
        expect(again.revision).toBeGreaterThan(first.revision);
        expect((await get('a'))?.created).toBe(again.revision);
      });

      test('deleting what is not there succeeds and makes no revision', async () => {
        const { revision } = await write(put('a', '1'));
        expect(await write(remove('b'))).toEqual({ committed: true, revision });
      });

      test.each([
        ['empty', ''],
        ['with every kind of character', 'ü 😀 \u0000 \u001f "\\\n\r\t \u{10ffff} \uffff'],
        ['of 500 kB', 'ä'.repeat(250_000)],
      ])('a value %s comes back as it was', async (_name, value) => {
        await write(put('a', value));
        expect((await get('a'))?.value).toBe(value);
      });

      test('any string comes back as it was', async () => {
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary' }), async (value) => {
            await write(put('any', value));
            expect((await get('any'))?.value).toBe(value);
          }),
          { numRuns: runs },
        );
      });
    });

    describe('list', () => {
      test('everything under the prefix and nothing else, by key', async () => {
        await write(put('b/2', '2'), put('b2', 'x'), put('b/10', '1'), put('b', 'x'), put('b/ü', '3'));
        const { entries } = await store.list(`${root}b/`);
        expect(entries.map(({ key }) => key)).toEqual(['b/10', 'b/2', 'b/ü'].map((key) => root + key));
      });

      test('an empty prefix is everything', async () => {
        await write(put('a', '1'));
        expect((await store.list('')).entries).toContainEqual(await get('a'));
      });

      test('nothing there: no entries, and the revision of now', async () => {
        const { revision } = await write(put('a', '1'));
        expect(await store.list(`${root}none/`)).toEqual({ revision, entries: [] });
      });

      test('2,500 keys are all there, at one revision, while others write', async () => {
        const key = (index: number) => `k${String(index).padStart(5, '0')}`;
        for (let from = 0; from < 2500; from += 100)
          await write(...Array.from({ length: 100 }, (_, index) => put(key(from + index), 'start')));
        const [writer, done] = [await another(), new AbortController()];
        const writing = (async () => {
          for (let round = 0; round < 2000 && !done.signal.aborted; round++)
            await writer.commit([], [put(key(0), `${round}`), put(key(2499), `${round}`)]);
        })();
        for (let round = 0; round < 5; round++) {
          const { entries, revision } = await store.list(root);
          expect(entries).toHaveLength(2500);
          expect(entries[0]?.value).toBe(entries[2499]?.value);
          expect(Math.max(...entries.map((entry) => entry.revision))).toBeLessThanOrEqual(revision);
          await new Promise((resolve) => setImmediate(resolve));
        }
        done.abort();
        await writing;
      });

      test('a commit of several keys is seen whole or not at all', async () => {
        const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
        const [writer, done] = [await another(), new AbortController()];
        await write(...keys.map((key) => put(key, 'start')));
        const writing = (async () => {
          for (let round = 0; round < 2000 && !done.signal.aborted; round++)
            await writer.commit(
              [],
              keys.map((key) => put(key, `${round}`)),
            );
        })();
        for (let round = 0; round < 50; round++) {
          expect(new Set(Object.values(await values())).size).toBe(1);
          await new Promise((resolve) => setImmediate(resolve));
        }
        done.abort();
        await writing;
      });
    });

    describe('commit', () => {
      let existing: Entry;
      beforeEach(async () => {
        await write(put('there', '1'));
        await write(put('there', '2'));
        existing = (await get('there')) as Entry;
      });

      const there = () => `${root}there`;
      const missing = () => `${root}missing`;
      const cases: [string, boolean, () => Condition[]][] = [
        ['no condition', true, () => []],
        ['the revision is that', true, () => [{ key: there(), revision: existing.revision }]],
        ['the revision is an older one', false, () => [{ key: there(), revision: existing.created }]],
        ['it was created then', true, () => [{ key: there(), created: existing.created }]],
        ['it was created at another time', false, () => [{ key: there(), created: existing.revision }]],
        ['it must not exist and does', false, () => [{ key: there(), revision: 0 }]],
        ['it must not have been created and was', false, () => [{ key: there(), created: 0 }]],
        ['it must not exist and does not', true, () => [{ key: missing(), revision: 0 }]],
        ['it must not have been created and was not', true, () => [{ key: missing(), created: 0 }]],
        ['it must exist and does not', false, () => [{ key: missing(), revision: existing.revision }]],
        [
          'both of two keys',
          true,
          () => [
            { key: there(), revision: existing.revision },
            { key: missing(), revision: 0 },
          ],
        ],
        [
          'only one of two keys',
          false,
          () => [
            { key: there(), revision: existing.revision },
            { key: missing(), revision: 1 },
          ],
        ],
      ];

      test.each(cases)('%s: committed is %s', async (_name, committed, conditions) => {
        const result = await store.commit(conditions(), [put('x', 'new'), put('y', 'new'), remove('there')]);
        expect(result.committed).toBe(committed);
        expect(await values()).toEqual(committed ? { x: 'new', y: 'new' } : { there: '2' });
      });

      test.each(cases)(
        '%s: a commit without writes says %s as well',
        async (_name, committed, conditions) => {
          expect((await store.commit(conditions(), [])).committed).toBe(committed);
          expect(await values()).toEqual({ there: '2' });
        },
      );

      test('all keys of a commit have its revision', async () => {
        const { revision } = await write(put('a', '1'), put('b', '1'));
        expect([(await get('a'))?.revision, (await get('b'))?.revision]).toEqual([revision, revision]);
      });

      test('100 conditions and 100 writes are taken', async () => {
        const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
        const conditions = keys.map((key) => ({ key: root + key, revision: 0 }));
        const writes = keys.map((key) => put(key, '1'));
        expect((await store.commit(conditions, writes)).committed).toBe(true);
        expect((await store.commit(conditions, writes)).committed).toBe(false);
      });

      const many = (length: number) => Array.from({ length }, (_, index) => index);
      test.each<[string, () => [Condition[], Write[]]]>([
        ['101 writes', () => [[], many(101).map((at) => put(`k${at}`, ''))]],
        ['101 conditions', () => [many(101).map((at) => ({ key: `k${at}`, revision: 0 })), [put('a', '')]]],
        ['a key written twice', () => [[], [put('a', '1'), remove('a')]]],
        ['an empty key', () => [[], [{ put: '', value: '' }]]],
        ['more than 1.4 MB', () => [[], many(3).map((at) => put(`k${at}`, 'x'.repeat(500_000)))]],
      ])('%s is refused and nothing is written', async (_name, make) => {
        await expect(store.commit(...make())).rejects.toMatchObject({ name: 'StoreError', code: 'refused' });
        expect(await values()).toEqual({ there: '2' });
      });

      test('no update is lost when eight workers add 25 each', async () => {
        await write(put('sum', '0'));
        const add = async (worker: Store) => {
          for (let done = 0, tries = 0; done < 25; tries++) {
            if (tries > 10_000) throw new Error('a worker never gets its turn');
            const entry = (await worker.get(`${root}sum`)) as Entry;
            const next = put('sum', String(Number(entry.value) + 1));
            const { key, revision } = entry;
            const { committed } = await worker.commit([{ key, revision }], [next]);
            if (committed) done++;
          }
        };
        const other = await another();
        await Promise.all(Array.from({ length: 8 }, (_, index) => add(index % 2 ? store : other)));
        expect((await get('sum'))?.value).toBe('200');
      });

      test('any sequence of commits ends as it does on a plain Map', async () => {
        let run = 0;
        await fc.assert(
          fc.asyncProperty(randomCommits, async (commits) => {
            const at = `${root}${++run}/`;
            await commits.play(store, at);
          }),
          { numRuns: runs },
        );
        expect(run).toBeGreaterThanOrEqual(runs);
      });
    });

    describe('watch', () => {
      const collect = async (prefix: string) => {
        const changes: StoreChange[] = [];
        const watch = await store.watch(prefix, (change) => changes.push(change));
        const until = (what: string, done: () => boolean) =>
          waitFor(what, () => done() || undefined, { timeoutMs: 20_000, everyMs: 5 });
        return {
          changes,
          watch,
          until,
          untilCount: (n: number) => until(`${n} changes`, () => changes.length >= n),
        };
      };

      test('first everything there is, then every change in order', async () => {
        await write(put('a', '1'));
        const { revision } = await write(put('b', '1'));
        const before = await store.list(root);
        const { changes, watch, untilCount } = await collect(root);
        const one = await write(put('c', 'x'), remove('a'));
        const two = await write(put('c', 'y'));
        const three = await write(remove('c'));
        await untilCount(5);
        await watch.close();
        const entry = (value: string, at: number) => ({
          key: `${root}c`,
          value,
          revision: at,
          created: one.revision,
        });
        expect(changes).toEqual([
          { type: 'reset', entries: before.entries, revision },
          { type: 'put', entry: entry('x', one.revision), revision: one.revision },
          { type: 'delete', key: `${root}a`, revision: one.revision },
          { type: 'put', entry: entry('y', two.revision), revision: two.revision },
          { type: 'delete', key: `${root}c`, revision: three.revision },
        ]);
      });

      test('only what is under the prefix', async () => {
        await write(put('a/b2', 'no'));
        const { changes, watch, untilCount } = await collect(`${root}a/b/`);
        await write(put('a/b2', 'no'), put('a/b', 'no'), put('a/b/c', 'yes'));
        await untilCount(2);
        await write(put('a/b/last', 'yes'));
        await untilCount(3);
        await watch.close();
        expect(changes.flatMap((change) => (change.type === 'put' ? [change.entry.key] : []))).toEqual([
          `${root}a/b/c`,
          `${root}a/b/last`,
        ]);
      });

      test('what another handle writes is seen, nothing twice and nothing missed', async () => {
        const other = await another();
        const { changes, watch, until } = await collect(root);
        const writing = Array.from({ length: 200 }, (_, index) =>
          other.commit([], [put(`k${index}`, `${index}`)]),
        );
        await Promise.all(writing);
        await until('the last', () => changes.length >= 201);
        await watch.close();
        const revisions = changes.slice(1).map(({ revision }) => revision);
        expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
        expect(revisions).toHaveLength(200);
      });

      test('a watcher is never called from within its own commit, nor twice at once', async () => {
        let depth = 0;
        let deepest = 0;
        const seen: string[] = [];
        const watch = await store.watch(root, (change) => {
          deepest = Math.max(deepest, ++depth);
          if (change.type === 'put') seen.push(change.entry.value);
          if (seen.length < 5) void write(put('loop', String(seen.length)));
          depth--;
        });
        await waitFor('five rounds', () => seen.length >= 5 || undefined, { everyMs: 5 });
        await watch.close();
        expect(deepest).toBe(1);
        expect(seen.slice(0, 5)).toEqual(['0', '1', '2', '3', '4']);
      });

      test('after close there are no more calls', async () => {
        const closed = await collect(root);
        await closed.untilCount(1);
        await closed.watch.close();
        const open = await collect(root);
        await write(put('a', '1'));
        await open.untilCount(2);
        await open.watch.close();
        expect(closed.changes).toHaveLength(1);
      });
    });

    describe('lease', () => {
      const ttlMs = 2000;
      const name = () => `lease-${count}`;
      const acquire = async (owner = 'me', on = store, forMs = ttlMs) => {
        const lease = await on.acquire(name(), forMs, owner);
        if (!lease) throw new Error('somebody else has the lease');
        return lease;
      };
      const fenced = (lease: Lease, value: string) =>
        store.commit([lease.fence], [put('under-lease', value)]);

      test('one of many gets it, and its owner can be read', async () => {
        const other = await another();
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 ? store : other).acquire(name(), ttlMs, `w${index}`),
          ),
        );
        const [lease, ...more] = all.filter((one) => one !== undefined);
        expect(more).toEqual([]);
        const entry = await store.get(keys.lease(name()));
        expect(entry?.value).toBe(`w${all.indexOf(lease)}`);
        expect(lease?.fence).toEqual({ key: keys.lease(name()), created: entry?.created });
        await lease?.release();
      });

      test('released, it is free at once, and the old holder is fenced off', async () => {
        const first = await acquire('first');
        expect((await fenced(first, 'first')).committed).toBe(true);
        await first.release();
        expect(first.remainingMs()).toBe(0);
        expect(await store.get(keys.lease(name()))).toBeUndefined();
        const second = await acquire('second', await another());
        expect((await fenced(first, 'stale')).committed).toBe(false);
        expect((await fenced(second, 'second')).committed).toBe(true);
        await first.release();
        expect((await fenced(second, 'again')).committed).toBe(true);
        await second.release();
      });

      test('it is kept alive past its TTL', async () => {
        // On a busy machine this process stands still for a second, and has then lost a shorter one.
        const longMs = 3 * ttlMs;
        const lease = await acquire('me', store, longMs);
        const from = performance.now();
        await waitFor('more than the TTL', async () => {
          expect(await store.acquire(name(), longMs, 'thief')).toBeUndefined();
          return performance.now() - from > 1.5 * longMs || undefined;
        });
        expect(lease.lost.aborted).toBe(false);
        expect(lease.remainingMs()).toBeGreaterThan(0);
        expect((await fenced(lease, 'still mine')).committed).toBe(true);
        await lease.release();
      });

      test('a holder that stood still knows that it is lost, another gets it, and the first is fenced off', async () => {
        const first = await acquire('first');
        standStill(ttlMs);
        expect(first.remainingMs()).toBe(0);
        expect(first.lost.aborted).toBe(true);
        const other = await another();
        const second = await waitFor('the takeover', () => other.acquire(name(), ttlMs, 'second'));
        expect((await fenced(first, 'stale')).committed).toBe(false);
        expect((await fenced(second, 'second')).committed).toBe(true);
        expect(first.remainingMs()).toBe(0);
        await first.release();
        expect((await fenced(second, 'after the late release')).committed).toBe(true);
        await second.release();
      });

      test('whoever watches sees it taken and freed', async () => {
        const seen: string[] = [];
        const watch = await store.watch(keys.lease(name()), ({ type }) => seen.push(type));
        const lease = await acquire();
        await lease.release();
        await waitFor('both', () => seen.length >= 3 || undefined, { everyMs: 5 });
        await watch.close();
        expect(seen).toEqual(['reset', 'put', 'delete']);
      });
    });
  });
}

/** As if the process were stopped: no timer runs, no answer is read, the clock goes on. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
