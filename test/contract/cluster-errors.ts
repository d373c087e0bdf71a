import { podSpec } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

/** What the server says when it says no. */
export function errorTests(subject: Subject): void {
  const maps = () => `/api/v1/namespaces/${subject.namespace}/configmaps`;
  const pods = () => `/api/v1/namespaces/${subject.namespace}/pods`;
  const failure = (code: number, reason: string) => ({
    code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code },
  });

  test('404 names what was not found', async () => {
    const missing = await subject.send('GET', `${maps()}/nobody`);
    expect(missing).toMatchObject(failure(404, 'NotFound'));
    expect(missing.body).toMatchObject({
      message: 'configmaps "nobody" not found',
      details: { name: 'nobody', kind: 'configmaps' },
    });
    const grouped = await subject.send(
      'GET',
      `/apis/apps/v1/namespaces/${subject.namespace}/deployments/nobody`,
    );
    expect(grouped.body).toMatchObject({
      message: 'deployments.apps "nobody" not found',
      details: { name: 'nobody', group: 'apps', kind: 'deployments' },
    });
    expect((await subject.send('DELETE', `${maps()}/nobody`)).code).toBe(404);
    expect((await subject.send('GET', '/api/v1/unicorns')).code).toBe(404);
  });

  test('404 for a new object in a namespace that does not exist', async () => {
    const lost = await subject.send('POST', '/api/v1/namespaces/nowhere-at-all/configmaps', {
      body: { metadata: { name: 'a' } },
    });
    expect(lost).toMatchObject(failure(404, 'NotFound'));
    expect(lost.body.message).toBe('namespaces "nowhere-at-all" not found');
  });

  test('409 when the name is taken', async () => {
    const body = { metadata: { name: 'twice' } };
    await subject.send('POST', maps(), { body });
    const again = await subject.send('POST', maps(), { body });
    expect(again).toMatchObject(failure(409, 'AlreadyExists'));
    expect(again.body.message).toBe('configmaps "twice" already exists');
  });

  test('422 names the field that is wrong', async () => {
    const unnamed = await subject.send('POST', maps(), { body: { metadata: {} } });
    expect(unnamed).toMatchObject(failure(422, 'Invalid'));
    expect(unnamed.body.details.causes).toMatchObject([
      { reason: 'FieldValueRequired', field: 'metadata.name' },
    ]);
    const badName = await subject.send('POST', maps(), { body: { metadata: { name: 'Not_A_Name' } } });
    expect(badName.body).toMatchObject({
      reason: 'Invalid',
      details: { name: 'Not_A_Name', kind: 'ConfigMap' },
    });
    expect(badName.body.message).toMatch(
      /metadata\.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain/,
    );
    const empty = await subject.send('POST', pods(), {
      body: { metadata: { name: 'p' }, spec: { containers: [] } },
    });
    expect(empty.body).toMatchObject({
      code: 422,
      message: 'Pod "p" is invalid: spec.containers: Required value',
    });
    const labels = { app: 'a' };
    const stray = await subject.send('POST', `/apis/apps/v1/namespaces/${subject.namespace}/deployments`, {
      body: {
        metadata: { name: 'stray' },
        spec: {
          selector: { matchLabels: { app: 'b' } },
          template: { metadata: { labels }, spec: podSpec() },
        },
      },
    });
    expect(stray).toMatchObject(failure(422, 'Invalid'));
    expect(stray.body.details.causes).toMatchObject([{ field: 'spec.template.metadata.labels' }]);
  });

  test('422 for an Event whose note is longer than 1024 bytes, however few characters that is', async () => {
    const tell = (name: string, note: string) =>
      subject.send('POST', `/apis/events.k8s.io/v1/namespaces/${subject.namespace}/events`, {
        body: {
          metadata: { name },
          eventTime: '2026-01-01T00:00:00.000000Z',
          type: 'Normal',
          reason: 'Tested',
          action: 'Tested',
          note,
          reportingController: 'example.com/contract',
          reportingInstance: 'contract',
          regarding: { kind: 'ConfigMap', namespace: subject.namespace, name: 'subject', apiVersion: 'v1' },
        },
      });
    expect((await tell('fits', 'é'.repeat(512))).code).toBe(201);
    const long = await tell('too-long', `${'é'.repeat(512)}x`);
    expect(long).toMatchObject(failure(422, 'Invalid'));
    expect(long.body.message).toMatch(/message: Invalid value: "": can have at most 1024 characters/);
  });

  test('422 for a pod that would be changed into another', async () => {
    await subject.send('POST', pods(), {
      body: { metadata: { name: 'fixed' }, spec: { ...podSpec(), schedulerName: 'nobody' } },
    });
    const moved = await subject.send('PATCH', `${pods()}/fixed`, {
      body: { spec: { hostname: 'elsewhere' } },
      type: 'application/merge-patch+json',
    });
    expect(moved).toMatchObject(failure(422, 'Invalid'));
    expect(moved.body.message).toMatch(/spec: Forbidden: pod updates may not change fields other than/);
  });

  test('400 for a body that is no JSON, of another kind, or of another name', async () => {
    expect(await subject.send('POST', maps(), { body: '{"metadata":' })).toMatchObject(
      failure(400, 'BadRequest'),
    );
    const otherKind = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };
    expect(await subject.send('POST', maps(), { body: otherKind })).toMatchObject(failure(400, 'BadRequest'));
    const otherType = { metadata: { name: 'a' }, spec: { containers: 'none' } };
    expect(await subject.send('POST', pods(), { body: otherType })).toMatchObject(failure(400, 'BadRequest'));
    await subject.send('POST', maps(), { body: { metadata: { name: 'a' } } });
    const otherName = await subject.send('PUT', `${maps()}/a`, { body: { metadata: { name: 'b' } } });
    expect(otherName).toMatchObject(failure(400, 'BadRequest'));
    expect(otherName.body.message).toMatch(
      /name of the object \(b\) does not match the name on the URL \(a\)/,
    );
    const otherNamespace = await subject.send('POST', maps(), {
      body: { metadata: { name: 'c', namespace: 'default' } },
    });
    expect(otherNamespace.body.message).toMatch(
      /namespace of the provided object does not match the namespace/,
    );
  });

  test('405, 413 and 415', async () => {
    expect(await subject.send('POST', `${maps()}/a`, { body: {} })).toMatchObject(
      failure(405, 'MethodNotAllowed'),
    );
    const big = { metadata: { name: 'big' }, data: { text: 'x'.repeat(4 * 1024 * 1024) } };
    expect(await subject.send('POST', maps(), { body: big })).toMatchObject(
      failure(413, 'RequestEntityTooLarge'),
    );
    const odd = await subject.send('POST', maps(), {
      body: 'a=1',
      type: 'application/x-www-form-urlencoded',
    });
    expect(odd).toMatchObject(failure(415, 'UnsupportedMediaType'));
    await subject.send('POST', maps(), { body: { metadata: { name: 'a' } } });
    const oddPatch = await subject.send('PATCH', `${maps()}/a`, { body: {}, type: 'application/json' });
    expect(oddPatch).toMatchObject(failure(415, 'UnsupportedMediaType'));
  });

  test('403 for a pod of a priority class that does not exist; an existing one gives its value', async () => {
    const pod = (name: string, priorityClassName: string) => ({
      metadata: { name },
      spec: { ...podSpec(), schedulerName: 'nobody', priorityClassName },
    });
    const refused = await subject.send('POST', pods(), { body: pod('a', 'no-such-class') });
    expect(refused).toMatchObject(failure(403, 'Forbidden'));
    expect(refused.body.message).toMatch(/no PriorityClass with name no-such-class was found/);
    const name = `class-${subject.namespace}`;
    await subject.send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      body: { metadata: { name }, value: 1234 },
    });
    try {
      const made = await subject.send('POST', pods(), { body: pod('b', name) });
      expect(made.body.spec.priority).toBe(1234);
    } finally {
      await subject.send('DELETE', `/apis/scheduling.k8s.io/v1/priorityclasses/${name}`);
    }
  });
}
