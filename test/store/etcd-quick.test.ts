import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EtcdStore } from '../../shared/adapters/store-etcd.ts';
import type { EtcdCalls } from '../../shared/adapters/store-etcd-calls.ts';
import { EtcdClient } from '../../shared/adapters/store-etcd-client.ts';
import { quickCalls } from '../../shared/adapters/store-etcd-quick.ts';
import { parseEtcdUrl } from '../../shared/adapters/store-etcd-url.ts';
import type { StoreChange } from '../../shared/ports.ts';
import { type Etcd, startEtcd } from '../real/stack/etcd.ts';
import { freePorts } from '../real/stack/ports.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';

let cleanup: AsyncDisposableStack;
beforeEach(() => {
  cleanup = new AsyncDisposableStack();
});
afterEach(() => cleanup.disposeAsync());

/** A store that begins at this port, and what was asked of gRPC, which answers everything. */
function openQuick(port: number) {
  const asked: string[] = [];
  const header = { revision: '7' } as Awaited<ReturnType<EtcdCalls['kvTxn']>>['header'];
  const grpc: EtcdCalls = {
    async kvRange() {
      asked.push('range');
      return { header, kvs: [], more: false };
    },
    async kvTxn() {
      asked.push('txn');
      return { header, succeeded: true };
    },
    leaseGrant: async () => '1',
    leaseKeepAlive: async () => true,
    leaseRevoke: async () => undefined,
    watchFrom: async () => ({ cancel: () => undefined }),
    close: () => asked.push('close'),
  };
  const calls = quickCalls(parseEtcdUrl(`etcd://127.0.0.1:${port}`), async () => {
    asked.push('open');
    return grpc;
  });
  const store = new EtcdStore(calls, 1);
  cleanup.defer(() => store.close());
  return { store, asked };
}

async function startGateway(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const put = { put: '/a', value: '1' };

describeWith(['etcd'], 'a store that starts quickly, on etcd', () => {
  test('reads, writes, watches and holds a lease past its TTL without gRPC', async () => {
    const etcd = cleanup.adopt(await startEtcd(), (one) => one.close());
    const { store, asked } = openQuick(etcd.members[0]?.port ?? 0);
    const changes: StoreChange[] = [];
    await store.watch('/', (change) => changes.push(change));
    expect((await store.commit([], [put])).committed).toBe(true);
    expect((await store.get('/a'))?.value).toBe('1');
    await store.commit([], [{ delete: '/a' }]);
    expect((await store.list('/')).entries).toEqual([]);
    await eventually(() => expect(changes.map(({ type }) => type)).toEqual(['reset', 'put', 'delete']));
    const lease = await store.acquire('machine', 2_000, 'me');
    const from = performance.now();
    await eventually(() => expect(performance.now() - from).toBeGreaterThan(3_000));
    expect(lease?.remainingMs()).toBeGreaterThan(0);
    expect((await store.commit(lease ? [lease.fence] : [], [put])).committed).toBe(true);
    await lease?.release();
    expect(await store.acquire('machine', 2_000, 'other')).toBeDefined();
    expect(asked).toEqual([]);
  });

  test('what is read at the same time is read together, each gets its own, and no transaction is too large', async () => {
    const etcd = cleanup.adopt(await startEtcd(), (one) => one.close());
    const { store, asked } = openQuick(etcd.members[0]?.port ?? 0);
    const names = Array.from({ length: 150 }, (_, index) => `/many/${index}`);
    for (const name of names) await store.commit([], [{ put: name, value: name }]);
    const [list, ...values] = await Promise.all([
      store.list('/many/1'),
      ...names.map(async (name) => (await store.get(name))?.value),
    ]);
    expect(values).toEqual(names);
    expect(list.entries.map(({ key }) => key)).toEqual(
      names.filter((name) => name.startsWith('/many/1')).sort(),
    );
    expect(asked).toEqual([]);
  });

  test('one that began with the member that dies goes on with the others, and loses nothing', async () => {
    const etcd = cleanup.adopt(await startEtcd({ members: 3 }), (one) => one.close());
    const leader = await etcd.leader();
    const addressOf = (members: Etcd['members']) =>
      parseEtcdUrl(`etcd://${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}`);
    const calls = quickCalls(addressOf([leader]), async () => new EtcdClient(addressOf(etcd.members)));
    const store = cleanup.adopt(new EtcdStore(calls, 3), (one) => one.close());
    const seen = new Set<string>();
    await store.watch('/', (change) => {
      for (const { key } of change.type === 'reset' ? change.entries : []) seen.add(key);
      if (change.type === 'put') seen.add(change.entry.key);
    });
    const lease = await store.acquire('machine', 60_000, 'me');
    const { revision } = await store.commit([], [put]);
    await leader.kill();
    const conditions = [{ key: '/b', revision: 0 }, ...(lease ? [lease.fence] : [])];
    await eventually(() => store.commit(conditions, [{ put: '/b', value: '2' }]));
    expect((await store.get('/a'))?.revision).toBe(revision);
    expect((await store.get('/b'))?.value).toBe('2');
    await eventually(() => expect(seen).toContain('/b'));
    expect(await store.acquire('machine', 2_000, 'another')).toBeUndefined();
  });
});

test('three reads at the same time are one request', async () => {
  const paths: string[] = [];
  const header = { revision: '7' };
  const port = await startGateway((request, response) => {
    paths.push(request.url ?? '');
    const kv = { key: Buffer.from('/b').toString('base64'), value: Buffer.from('2').toString('base64') };
    const responses = [{}, { kvs: [kv] }, {}].map((range) => ({ response_range: range }));
    response.end(JSON.stringify({ header, responses }));
  });
  const { store } = openQuick(port);
  const values = await Promise.all(['/a', '/b', '/c'].map(async (key) => (await store.get(key))?.value));
  expect(values).toEqual([undefined, '2', undefined]);
  expect(paths).toEqual(['/v3/kv/txn']);
});

test('a lease is asked for at once; whoever has to wait for it looks first', async () => {
  const paths: string[] = [];
  let isHeld = true;
  const port = await startGateway((request, response) => {
    const path = (request.url ?? '').replace('/v3/', '');
    paths.push(path);
    const kvs = isHeld ? [{ key: '', value: '' }] : [];
    response.end(JSON.stringify({ header: { revision: '7' }, ID: '1', kvs, succeeded: !isHeld }));
  });
  const { store } = openQuick(port);
  expect(await store.acquire('evaluate', 10_000, 'me')).toBeUndefined();
  expect(paths.splice(0)).toEqual(['lease/grant', 'kv/txn', 'lease/revoke']);
  expect(await store.acquire('evaluate', 10_000, 'me')).toBeUndefined();
  expect(paths.splice(0)).toEqual(['kv/range']);
  isHeld = false;
  const lease = await store.acquire('evaluate', 10_000, 'me');
  expect(paths.splice(0)).toEqual(['kv/range', 'lease/grant', 'kv/txn']);
  await lease?.release();
  await store.acquire('evaluate', 10_000, 'me');
  expect(paths).toEqual(['lease/revoke', 'lease/grant', 'kv/txn']);
});

test('when nobody listens, gRPC answers, and goes on doing so', async () => {
  const [port = 0] = await freePorts(1);
  const { store, asked } = openQuick(port);
  expect(await store.commit([], [put])).toEqual({ committed: true, revision: 7 });
  expect(await store.get('/a')).toBeUndefined();
  expect(asked).toEqual(['open', 'txn', 'range']);
});

test.each([400, 401, 404, 501])('what the gateway refuses with %s is asked of gRPC', async (status) => {
  const port = await startGateway((_, response) => response.writeHead(status).end('{}'));
  const { store, asked } = openQuick(port);
  expect((await store.commit([], [put])).committed).toBe(true);
  expect(asked).toEqual(['open', 'txn']);
});

test.each([
  ['is not answered', ((request) => request.socket.destroy()) as RequestListener],
  ['is answered with 503', (_, response) => response.writeHead(503).end('{}')],
  ['is answered with half of it', (_, response) => response.writeHead(200).end('{"header":')],
])('a commit that %s may have happened: it is not sent again', async (_name, answer) => {
  let requests = 0;
  const port = await startGateway((request, response) => {
    requests += 1;
    answer(request, response);
  });
  const { store, asked } = openQuick(port);
  await expect(store.commit([], [put])).rejects.toMatchObject({ code: 'ambiguous' });
  expect(asked).toEqual(['open']);
  expect(requests).toBe(1);
  // A read harms nobody, and is gRPC's from now on.
  expect(await store.get('/a')).toBeUndefined();
  expect(asked).toEqual(['open', 'range']);
});
