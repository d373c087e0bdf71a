import type { EtcdClient } from '../../shared/adapters/etcd/client.ts';
import { EtcdStore } from '../../shared/adapters/etcd/store.ts';

test('a free lease is requested at once; a lease that another process held is read first', async () => {
  const calls: string[] = [];
  let isHeld = true;
  const record = <Answer>(name: string, answer: Answer): Promise<Answer> => {
    calls.push(name);
    return Promise.resolve(answer);
  };
  const bytes = Buffer.from('');
  const store = new EtcdStore(
    {
      kvRange: () =>
        record('range', { kvs: isHeld ? [{ key: bytes, value: bytes }] : [], header: { revision: '7' } }),
      kvTxn: () => record('txn', { succeeded: !isHeld, header: { revision: '7' } }),
      leaseGrant: () => record('grant', '1'),
      leaseRevoke: () => record('revoke', undefined),
      close: () => undefined,
    } as unknown as EtcdClient,
    1,
  );
  expect(await store.acquire('evaluate', 10_000, 'me')).toBeUndefined();
  expect(calls.splice(0)).toEqual(['grant', 'txn', 'revoke']);
  expect(await store.acquire('evaluate', 10_000, 'me')).toBeUndefined();
  expect(calls.splice(0)).toEqual(['range']);
  isHeld = false;
  const lease = await store.acquire('evaluate', 10_000, 'me');
  expect(calls.splice(0)).toEqual(['range', 'grant', 'txn']);
  await lease?.release();
  await store.acquire('evaluate', 10_000, 'me');
  expect(calls).toEqual(['revoke', 'grant', 'txn']);
  await store.close();
});
