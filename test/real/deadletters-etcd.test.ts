import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { Store } from '../../shared/ports/store.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { startEtcd } from '../../tools/real-stack/etcd.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { runBamel } from '../cli/run-bamel.ts';

describeWith(['etcd'], 'bamel deadletters straight on etcd', () => {
  let cleanup: AsyncDisposableStack;
  let store: Store;
  let env: Record<string, string>;
  /** What reached the broker, and how it answers. */
  let taken: { readonly type: unknown; readonly body: string }[];
  let status: number;

  beforeEach(async () => {
    cleanup = new AsyncDisposableStack();
    const etcd = cleanup.adopt(await startEtcd(), (one) => one.close());
    taken = [];
    status = 202;
    const broker = createServer(async (request, response) => {
      const body = (await request.setEncoding('utf8').toArray()).join('');
      if (status === 202) taken.push({ type: request.headers['ce-type'], body });
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    cleanup.defer(() => {
      broker.closeAllConnections();
      broker.close();
    });
    await once(broker, 'listening');
    env = {
      BAMEL_STORE: `etcd://127.0.0.1:${etcd.members[0]?.port}`,
      K_SINK: `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`,
    };
    store = cleanup.adopt(await openStore(env.BAMEL_STORE ?? ''), (one) => one.close());
    for (const machine of ['m-1', 'm-2'])
      await createDeadLetters(store).add({
        event: { type: 'dev.bamel.power.requested', subject: machine, data: { machine } },
        function: 'power-action',
        lastError: 'it answered 422',
        at: Date.now(),
      });
  });
  afterEach(() => cleanup.disposeAsync());

  const left = async () => (await createDeadLetters(store).list()).map(({ event }) => event.subject);

  test('one by its id, then all: each reaches the broker once and is forgotten', async () => {
    const listed = await runBamel(['deadletters', 'list'], env, 60_000);
    const [first = ''] = listed.stdout.match(/^dead-\w+/) ?? [];
    const one = await runBamel(['deadletters', 'replay', first], env, 60_000);
    expect(one).toMatchObject({ code: 0, stderr: '', stdout: `${first} sent again\n` });
    expect(taken).toEqual([{ type: 'dev.bamel.power.requested', body: '{"machine":"m-1"}' }]);
    expect(await left()).toEqual(['m-2']);
    expect((await runBamel(['deadletters', 'replay', '--all'], env, 60_000)).code).toBe(0);
    expect(taken.map(({ body }) => body)).toEqual(['{"machine":"m-1"}', '{"machine":"m-2"}']);
    expect(await left()).toEqual([]);
  }, 240_000);

  test('a broker that takes none leaves them all where they are', async () => {
    status = 503;
    const ran = await runBamel(['deadletters', 'replay', '--all'], env, 60_000);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).not.toBe('');
    expect(await left()).toEqual(['m-1', 'm-2']);
  }, 240_000);
});
