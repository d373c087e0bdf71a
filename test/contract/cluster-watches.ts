import { type Seen, until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

const brief = ({ type, object }: Seen) => `${type} ${object.metadata?.name ?? object.reason}`;

/** Being told of changes. */
export function watchTests(subject: Subject): void {
  const maps = () => `/api/v1/namespaces/${subject.namespace}/configmaps`;
  const make = (name: string, labels: Record<string, string> = {}) =>
    subject.send('POST', maps(), { body: { metadata: { name, labels } } });
  const change = (name: string, body: object) =>
    subject.send('PATCH', `${maps()}/${name}`, { body, type: 'application/merge-patch+json' });
  const told = async ({ seen }: { seen: Seen[] }, expected: string[]) => {
    await until(`${expected.length} events came`, async () => seen.length >= expected.length);
    expect(seen.map(brief)).toEqual(expected);
  };

  test('a watch from a version gets every change since, once and in order', async () => {
    await make('before');
    const { body } = await subject.send('GET', maps());
    await make('a');
    await change('a', { data: { x: '1' } });
    const watch = await subject.watch(maps(), { resourceVersion: body.metadata.resourceVersion });
    await subject.send('DELETE', `${maps()}/a`);
    await make('b');
    await told(watch, ['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
    const versions = watch.seen.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(4);
  });

  test('a watch without a version begins with what is there', async () => {
    await make('present', { w: '1' });
    const watch = await subject.watch(maps(), { labelSelector: 'w=1' });
    await told(watch, ['ADDED present']);
    await make('later', { w: '1' });
    await told(watch, ['ADDED present', 'ADDED later']);
  });

  test('an object that starts or stops to match a selector comes and goes', async () => {
    const { body } = await subject.send('GET', maps());
    const watch = await subject.watch(maps(), {
      resourceVersion: body.metadata.resourceVersion,
      labelSelector: 'color=red',
    });
    await make('x', { color: 'blue' });
    await change('x', { metadata: { labels: { color: 'red' } } });
    await change('x', { data: { a: '1' } });
    const gone = await change('x', { metadata: { labels: { color: 'blue' } } });
    await make('end', { color: 'red' });
    await told(watch, ['ADDED x', 'MODIFIED x', 'DELETED x', 'ADDED end']);
    // It is shown as it last matched, at the version at which it no longer did.
    expect(watch.seen[2]?.object.metadata).toMatchObject({
      labels: { color: 'red' },
      resourceVersion: gone.body.metadata.resourceVersion,
    });
  });

  test('a watch with a field selector sees one object only', async () => {
    const { body } = await subject.send('GET', maps());
    const watch = await subject.watch(maps(), {
      resourceVersion: body.metadata.resourceVersion,
      fieldSelector: 'metadata.name=chosen',
    });
    await make('other');
    await make('chosen');
    await told(watch, ['ADDED chosen']);
  });

  test('initial events end with a bookmark that says so', async () => {
    await make('present', { i: '1' });
    const watch = await subject.watch(maps(), {
      labelSelector: 'i=1',
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      resourceVersionMatch: 'NotOlderThan',
    });
    await until('the bookmark came', async () => watch.seen.length >= 2);
    expect(watch.seen[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'present' } } });
    expect(watch.seen[1]).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    expect(Number(watch.seen[1]?.object.metadata.resourceVersion)).toBeGreaterThan(0);
  });

  test('a watch ends after the seconds it asked for', async () => {
    const watch = await subject.watch(maps(), { timeoutSeconds: 1 });
    await watch.ended;
    expect(watch.seen.filter(({ type }) => type === 'ERROR')).toEqual([]);
  });

  test('a deleted pod that nobody runs is marked and gone at once; its watch says both', async () => {
    const pods = `/api/v1/namespaces/${subject.namespace}/pods`;
    const { body } = await subject.send('GET', pods);
    const watch = await subject.watch(pods, { resourceVersion: body.metadata.resourceVersion });
    const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] };
    await subject.send('POST', pods, { body: { metadata: { name: 'waiting' }, spec } });
    const deleted = await subject.send('DELETE', `${pods}/waiting`);
    expect(deleted).toMatchObject({ code: 200, body: { kind: 'Pod', metadata: { name: 'waiting' } } });
    await told(watch, ['ADDED waiting', 'MODIFIED waiting', 'DELETED waiting']);
    expect(watch.seen[1]?.object.metadata.deletionTimestamp).toBeDefined();
  });
}

/** Only where a harness can make versions expire. */
export function expiryTests(subject: Subject): void {
  const maps = () => `/api/v1/namespaces/${subject.namespace}/configmaps`;

  test('versions that have expired get 410: an ERROR event on a watch, an answer on a list that goes on', async () => {
    const { harness } = subject;
    // A harness that cannot compact has nothing to say here; both of ours can.
    expect(harness.compact).toBeDefined();
    for (const name of ['a', 'b', 'c']) await subject.send('POST', maps(), { body: { metadata: { name } } });
    const first = await subject.send('GET', `${maps()}?limit=1`);
    await subject.send('DELETE', `${maps()}/a`);
    await harness.compact?.();
    await until('the server answers', async () => (await subject.send('GET', maps())).code === 200);
    const next = await subject.send(
      'GET',
      `${maps()}?limit=1&continue=${encodeURIComponent(first.body.metadata.continue)}`,
    );
    expect(next).toMatchObject({ code: 410, body: { kind: 'Status', reason: 'Expired', code: 410 } });
    const watch = await subject.watch(maps(), { resourceVersion: first.body.metadata.resourceVersion });
    await watch.ended;
    expect(watch.seen).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 } },
    ]);
    expect(watch.seen[0]?.object.message).toMatch(/too old resource version/);
  });
}
