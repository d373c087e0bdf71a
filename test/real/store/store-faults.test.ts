import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openStore } from '../../../shared/adapters/store/open-store.ts';
import { type Store, type StoreChange, StoreError } from '../../../shared/ports/store.ts';
import { keys } from '../../../shared/state/keys.ts';
import { type Etcd, type EtcdOptions, etcdCall, startEtcd } from '../../../tools/real-stack/etcd.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { type CutProxy, startProxy } from '../../../tools/support/cut-proxy.ts';
import { describeWith } from '../../../tools/support/programs.ts';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

async function start(options: EtcdOptions = {}): Promise<Etcd> {
  return cleanup.adopt(await startEtcd(options), (etcd) => etcd.close());
}
async function proxyTo(port: number): Promise<CutProxy> {
  return cleanup.adopt(await startProxy(port), (proxy) => proxy.close());
}
const urlOf = (ports: readonly number[]) => `etcd://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;
async function connect(...ports: number[]): Promise<Store> {
  return cleanup.adopt(await openStore(urlOf(ports)), (store) => store.close());
}
const portsOf = (etcd: Etcd) => etcd.members.map(({ port }) => port);
const put = (store: Store, key: string, value = 'x') => store.commit([], [{ put: key, value }]);
/** What a call came to: 'ok' or the code of its StoreError. */
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error) => {
      if (error instanceof StoreError) return error.code;
      throw error;
    },
  );
const untilItAnswers = (store: Store) =>
  waitFor('etcd answers', async () => (await outcome(put(store, '/alive'))) === 'ok' || undefined);

describeWith(['etcd'], 'fault 6: a stale lease holder', () => {
  test('stopped past its TTL and resumed, it knows, and its commit is refused', async () => {
    const etcd = await start();
    const store = await connect(...portsOf(etcd));
    const module = new URL('../../../shared/adapters/store/open-store.ts', import.meta.url);
    const script = `
      import { createInterface } from 'node:readline';
      import { openStore } from '${module}';
      const store = await openStore('${urlOf(portsOf(etcd))}');
      const lease = await store.acquire('machine', 2000, 'child');
      console.log('holding');
      for await (const _ of createInterface(process.stdin)) {
        const remaining = lease.remainingMs();
        const { committed } = await store.commit([lease.fence], [{ put: '/result', value: 'stale' }]);
        console.log(JSON.stringify({ remaining, lost: lease.lost.aborted, committed }));
      }
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    cleanup.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('holding');
    expect(await store.acquire('machine', 2000, 'parent')).toBeUndefined();

    child.kill('SIGSTOP');
    const lease = await waitFor('the takeover', () => store.acquire('machine', 2000, 'parent'));
    child.stdin.write('now\n');
    child.kill('SIGCONT');
    expect(JSON.parse((await lines.next()).value ?? '')).toEqual({
      remaining: 0,
      lost: true,
      committed: false,
    });
    expect(await store.get('/result')).toBeUndefined();
    const result = await store.commit([lease.fence], [{ put: '/result', value: 'mine' }]);
    expect(result.committed).toBe(true);
  });
});

describeWith(['etcd'], 'fault 8: etcd leader loss', () => {
  test('an ambiguous write is re-read, nothing is applied twice', async () => {
    const etcd = await start({ members: 3 });
    const store = await connect(...portsOf(etcd));
    const counts = { committed: 0, ambiguous: 0, unavailable: 0 };
    const problems: string[] = [];
    let leaderIsGone = false;

    // Every operation has a key of its own, so whatever is applied a second time shows in its revisions.
    const operate = async (id: string, guarded: boolean) => {
      const key = `/ops/${id}`;
      const conditions = guarded ? [{ key, revision: 0 }] : [];
      try {
        const { committed, revision } = await store.commit(conditions, [{ put: key, value: id }]);
        if (!committed) problems.push(`${id} was applied by a repetition that nobody asked for`);
        counts.committed++;
        return { key, revision };
      } catch (error) {
        if (!(error instanceof StoreError) || (error.code !== 'ambiguous' && error.code !== 'unavailable'))
          throw error;
        counts[error.code]++;
        return { key, code: error.code };
      }
    };
    const results: Awaited<ReturnType<typeof operate>>[] = [];
    const work = async (worker: number) => {
      for (let round = 0, after = 0; after < 40; round++) {
        if (round > 20_000) throw new Error('no end');
        const result = await operate(`${worker}-${round}`, round % 2 === 0);
        results.push(result);
        if (leaderIsGone && result.revision) after++;
      }
    };
    const working = Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
    await waitFor('some writes', () => results.length > 100 || undefined);
    const leader = await etcd.leader();
    await leader.kill();
    leaderIsGone = true;
    await working;

    expect(problems).toEqual([]);
    expect(counts.committed).toBeGreaterThan(400);
    // What was under way when the leader died did not all succeed by itself.
    expect(counts.ambiguous + counts.unavailable).toBeGreaterThan(0);
    const found = new Map((await store.list('/ops/')).entries.map((entry) => [entry.key, entry]));
    for (const { key, revision, code } of results) {
      const entry = found.get(key);
      if (code === 'unavailable') expect(entry).toBeUndefined();
      if (revision) expect(entry?.revision).toBe(revision);
      if (entry) expect(entry.created).toBe(entry.revision);
    }

    // As functions do: read again, and only what is not there is written again.
    for (const { key } of results.filter(({ code }) => code === 'ambiguous')) {
      if (await store.get(key)) continue;
      const { committed } = await store.commit([{ key, revision: 0 }], [{ put: key, value: 'again' }]);
      expect(committed).toBe(true);
    }
  });

  test('a write that was applied but not answered is ambiguous, and reading finds it once', async () => {
    const etcd = await start();
    const [port = 0] = portsOf(etcd);
    const proxy = await proxyTo(port);
    const [store, direct] = [await connect(proxy.port), await connect(port)];
    await put(store, '/warm');
    // There within the deadline, back after it.
    proxy.delay(1500);
    const write = store.commit([{ key: '/op', revision: 0 }], [{ put: '/op', value: '7f3a' }]);
    expect(await outcome(write)).toBe('ambiguous');
    proxy.heal();
    const entry = await waitFor('the write', () => direct.get('/op'));
    expect(entry.value).toBe('7f3a');
    expect(entry.created).toBe(entry.revision);
    const again = await store.commit([{ key: '/op', revision: 0 }], [{ put: '/op', value: '7f3a' }]);
    expect(again.committed).toBe(false);
  });

  test('a lease whose grant was applied but not answered is still held by one only', async () => {
    const etcd = await start();
    const [port = 0] = portsOf(etcd);
    const proxy = await proxyTo(port);
    const [store, direct] = [await connect(proxy.port), await connect(port)];
    await put(store, '/warm');
    proxy.delay(1200);
    const trying = outcome(store.acquire('machine', 10_000, 'slow'));
    expect(['unavailable', 'ambiguous']).toContain(await trying);
    proxy.heal();
    const lease = await waitFor('the lease', () => direct.acquire('machine', 10_000, 'direct'));
    expect((await direct.get(keys.lease('machine')))?.value).toBe('direct');
    await lease.release();
  });
});

describeWith(['etcd'], 'fault 9: etcd minority partition', () => {
  test('no read, no write, leases lost before their TTL; all goes on when it is over', async () => {
    const etcd = await start({ members: 3 });
    const [alone, ...others] = etcd.members;
    const everywhere = await connect(...portsOf(etcd));
    const minority = await connect(alone?.port ?? 0);
    const { revision } = await put(everywhere, '/a', 'before');
    const lease = await minority.acquire('machine', 5000, 'me');
    const changes: StoreChange[] = [];
    await minority.watch('/watched/', (change) => changes.push(change));

    for (const member of others) member.stop();
    for (const store of [everywhere, minority]) {
      const [get, list, commit, check, acquire] = await Promise.all([
        outcome(store.get('/a')),
        outcome(store.list('/')),
        outcome(put(store, '/b')),
        outcome(store.commit([{ key: '/a', revision }], [])),
        outcome(store.acquire('other', 2000, 'me')),
      ]);
      expect([get, list, acquire]).toEqual(['unavailable', 'unavailable', 'unavailable']);
      for (const result of [commit, check]) expect(['unavailable', 'ambiguous']).toContain(result);
    }
    await waitFor('the lease is lost', () => lease?.lost.aborted || undefined);
    expect(lease?.remainingMs()).toBe(0);
    await expect(minority.get('/a')).rejects.toThrow(
      /^etcd: no answer or no quorum for [2-9]\d* s\. Nothing is powered on or off until it is back\./,
    );

    for (const member of others) member.cont();
    await untilItAnswers(minority);
    await untilItAnswers(everywhere);
    expect((await minority.get('/a'))?.value).toBe('before');
    await put(everywhere, '/watched/x');
    await waitFor('the watch goes on', () => changes.some(({ type }) => type === 'put') || undefined);
  });

  test('cut off from all members: the same, and quickly', async () => {
    const etcd = await start();
    const proxy = await proxyTo(portsOf(etcd)[0] ?? 0);
    const store = await connect(proxy.port);
    await put(store, '/a');
    proxy.cut();
    expect(await outcome(store.get('/a'))).toBe('unavailable');
    // Nothing can have been sent on a connection that was never made.
    expect(await outcome(put(store, '/b'))).toBe('unavailable');
    proxy.heal();
    await untilItAnswers(store);
    expect(await store.get('/b')).toBeUndefined();
  });

  test('one frozen member of three is passed over', async () => {
    const etcd = await start({ members: 3 });
    const store = await connect(...portsOf(etcd));
    const leader = await etcd.leader();
    await put(store, '/a');
    const frozen = etcd.members.find((member) => member !== leader);
    frozen?.stop();
    // Whoever runs into it first waits for the deadline and may not know the outcome; the others do not.
    const failures: string[] = [];
    for (let round = 0; round < 50; round++)
      await put(store, '/b').catch((error: StoreError) => failures.push(`${error.code}: ${error.message}`));
    frozen?.cont();
    expect(failures.slice(1)).toEqual([]);
    expect((await store.get('/b'))?.value).toBe('x');
  });
});

describeWith(['etcd'], 'fault 10: compaction or watch gap', () => {
  async function watched() {
    const etcd = await start();
    const [port = 0] = portsOf(etcd);
    const proxy = await proxyTo(port);
    const [store, direct] = [await connect(proxy.port), await connect(port)];
    await direct.commit(
      [],
      ['a', 'b'].map((key) => ({ put: `/w/${key}`, value: '1' })),
    );
    const changes: StoreChange[] = [];
    await store.watch('/w/', (change) => changes.push(change));
    const keys = () =>
      changes.map((change) =>
        change.type === 'reset'
          ? change.entries.map(({ key, value }) => `${key}=${value}`)
          : change.type === 'put'
            ? `${change.entry.key}=${change.entry.value}`
            : `-${change.key}`,
      );
    await direct.commit([], [{ put: '/w/live', value: '1' }]);
    await waitFor('a live change', () => changes.length >= 2 || undefined);
    return {
      etcd,
      proxy,
      direct,
      keys,
      untilCount: (n: number) => waitFor(`${n} changes`, () => changes.length >= n || undefined),
    };
  }

  test('after a lost connection the changes in between come, in order, without a reset', async () => {
    const { proxy, direct, keys, untilCount } = await watched();
    proxy.cut();
    await put(direct, '/w/c', '1');
    await direct.commit([], [{ delete: '/w/a' }]);
    proxy.heal();
    await untilCount(4);
    await put(direct, '/w/d', '1');
    await untilCount(5);
    expect(keys()).toEqual([['/w/a=1', '/w/b=1'], '/w/live=1', '/w/c=1', '-/w/a', '/w/d=1']);
  });

  test('when they were compacted away: re-list', async () => {
    const { etcd, proxy, direct, keys, untilCount } = await watched();
    proxy.cut();
    await put(direct, '/w/c', '1');
    await direct.commit([], [{ delete: '/w/a' }]);
    await put(direct, '/w/c', '2');
    await etcd.compact();
    proxy.heal();
    await untilCount(3);
    await put(direct, '/w/d', '1');
    await untilCount(4);
    expect(keys()).toEqual([['/w/a=1', '/w/b=1'], '/w/live=1', ['/w/b=1', '/w/c=2', '/w/live=1'], '/w/d=1']);
  });

  test('a long list is whole although its revision is compacted away meanwhile', async () => {
    const etcd = await start();
    const store = await connect(...portsOf(etcd));
    for (let from = 0; from < 3000; from += 100)
      await store.commit(
        [],
        Array.from({ length: 100 }, (_, at) => ({ put: `/l/${from + at}`, value: 'x' })),
      );
    const done = new AbortController();
    const compacting = (async () => {
      for (let round = 0; round < 1000 && !done.signal.aborted; round++) {
        await put(store, '/other', `${round}`);
        await etcd.compact();
      }
    })();
    for (let round = 0; round < 10; round++) expect((await store.list('/l/')).entries).toHaveLength(3000);
    done.abort();
    await compacting;
  });
});

describeWith(['etcd'], 'fault 11: etcd quota full', () => {
  test('StoreError full for writes and leases, reads go on, and so does all when space is freed', async () => {
    const etcd = await start({ quotaBytes: 4 * 1024 * 1024 });
    const [endpoint = ''] = etcd.endpoints;
    const store = await connect(...portsOf(etcd));
    const refused = await waitFor('etcd is full', () =>
      put(store, '/big', 'x'.repeat(1024 * 1024)).then(
        () => undefined,
        (error) => error,
      ),
    );
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused).toMatchObject({
      code: 'full',
      message: expect.stringMatching(/Nothing is powered on or off until.*compact.*defrag.*disarm/),
    });
    expect(await outcome(store.acquire('machine', 2000, 'me'))).toBe('full');
    expect((await store.get('/big'))?.value).toHaveLength(1024 * 1024);

    await store.commit([], [{ delete: '/big' }]);
    await etcd.compact();
    expect((await etcdCall(endpoint, 'maintenance/defragment')).status).toBe(200);
    const { body } = await etcdCall(endpoint, 'maintenance/alarm', { action: 'GET' });
    for (const { memberID, alarm } of (body as { alarms: { memberID: string; alarm: string }[] }).alarms)
      await etcdCall(endpoint, 'maintenance/alarm', { action: 'DEACTIVATE', memberID, alarm });
    expect(await outcome(put(store, '/small'))).toBe('ok');
    expect((await store.get('/small'))?.value).toBe('x');
  });
});
