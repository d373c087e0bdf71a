import { AppsV1Api, CoordinationV1Api, CoreV1Api, EventsV1Api, V1MicroTime } from '@kubernetes/client-node';
import { pause, podSpec, until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Reading and writing objects. */
export function objectTests(subject: Subject): void {
  const core = () => subject.kubeConfig.makeApiClient(CoreV1Api);
  const maps = () => `/api/v1/namespaces/${subject.namespace}/configmaps`;
  const make = (name: string, rest: object = {}) =>
    subject.send('POST', maps(), { body: { metadata: { name }, ...rest } });

  test('an object gets a uid, a version and a time; it is read, listed, updated and deleted', async () => {
    const { namespace } = subject;
    const created = await make('a', { data: { x: '1' } });
    expect(created.code).toBe(201);
    expect(created.body).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { x: '1' } });
    expect(created.body.metadata).toMatchObject({
      name: 'a',
      namespace,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(created.body.metadata.creationTimestamp).toMatch(timestamp);
    const read = await core().readNamespacedConfigMap({ namespace, name: 'a' });
    expect(read.metadata?.resourceVersion).toBe(created.body.metadata.resourceVersion);
    const updated = await core().replaceNamespacedConfigMap({
      namespace,
      name: 'a',
      body: { ...read, data: { x: '2' } },
    });
    expect(updated.data).toEqual({ x: '2' });
    expect(Number(updated.metadata?.resourceVersion)).toBeGreaterThan(Number(read.metadata?.resourceVersion));
    const list = await core().listNamespacedConfigMap({ namespace });
    expect(list.items.map(({ metadata }) => metadata?.name)).toContain('a');
    expect(Number(list.metadata?.resourceVersion)).toBeGreaterThanOrEqual(
      Number(updated.metadata?.resourceVersion),
    );
    const deleted = await subject.send('DELETE', `${maps()}/a`);
    expect(deleted).toMatchObject({ code: 200, body: { kind: 'Status', status: 'Success' } });
    expect(deleted.body.details).toMatchObject({
      name: 'a',
      kind: 'configmaps',
      uid: created.body.metadata.uid,
    });
    expect((await subject.send('GET', `${maps()}/a`)).code).toBe(404);
  });

  test('generateName makes a name of its own each time', async () => {
    const body = { metadata: { generateName: 'many-' } };
    const names = await Promise.all(
      [1, 2, 3].map(async () => (await subject.send('POST', maps(), { body })).body.metadata.name),
    );
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^many-[a-z0-9]{5}$/);
  });

  test('a write that changes nothing keeps the version', async () => {
    const { body } = await make('same', { data: { a: '1' } });
    const again = await subject.send('PUT', `${maps()}/same`, { body });
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  test('a write with an old version is refused with 409 Conflict; one without a version wins', async () => {
    const { body: old } = await make('stale', { data: { n: '0' } });
    await subject.send('PUT', `${maps()}/stale`, { body: { ...old, data: { n: '1' } } });
    const late = await subject.send('PUT', `${maps()}/stale`, { body: { ...old, data: { n: '2' } } });
    expect(late).toMatchObject({
      code: 409,
      body: { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409 },
    });
    expect(late.body.message).toMatch(/configmaps "stale": the object has been modified/);
    const blind = await subject.send('PUT', `${maps()}/stale`, {
      body: { metadata: { name: 'stale' }, data: { n: '3' } },
    });
    expect(blind).toMatchObject({ code: 200, body: { data: { n: '3' } } });
  });

  test('a finalizer keeps a deleted object until it is taken away, and no new one may be added', async () => {
    await make('kept', { metadata: { name: 'kept', finalizers: ['example.com/hold'] } });
    const deleted = await subject.send('DELETE', `${maps()}/kept`);
    expect(deleted).toMatchObject({ code: 200, body: { kind: 'ConfigMap' } });
    const { body } = await subject.send('GET', `${maps()}/kept`);
    expect(body.metadata.deletionTimestamp).toMatch(timestamp);
    const more = {
      ...body,
      metadata: { ...body.metadata, finalizers: ['example.com/hold', 'example.com/more'] },
    };
    expect(await subject.send('PUT', `${maps()}/kept`, { body: more })).toMatchObject({ code: 422 });
    await subject.send('PUT', `${maps()}/kept`, {
      body: { ...body, metadata: { ...body.metadata, finalizers: [] } },
    });
    expect((await subject.send('GET', `${maps()}/kept`)).code).toBe(404);
  });

  test('a delete with the uid or version of another object is refused', async () => {
    const { body } = await make('mine');
    const wrong = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } };
    expect(await subject.send('DELETE', `${maps()}/mine`, { body: wrong })).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    });
    const old = { preconditions: { resourceVersion: '1' } };
    expect((await subject.send('DELETE', `${maps()}/mine`, { body: old })).code).toBe(409);
    const right = { preconditions: { uid: body.metadata.uid } };
    expect((await subject.send('DELETE', `${maps()}/mine`, { body: right })).code).toBe(200);
  });

  test('a collection is deleted by its labels', async () => {
    for (const [name, team] of [
      ['one', 'red'],
      ['two', 'red'],
      ['three', 'blue'],
    ])
      await make(name ?? '', { metadata: { name, labels: { team } } });
    await subject.send('DELETE', `${maps()}?labelSelector=team%3Dred`);
    const { body } = await subject.send('GET', `${maps()}?labelSelector=team`);
    expect(body.items.map((item) => item.metadata.name)).toEqual(['three']);
  });

  test('label selectors: equal, unequal, in, notin, exists, absent', async () => {
    await make('a', { metadata: { name: 'a', labels: { app: 'web', tier: 'front' } } });
    await make('b', { metadata: { name: 'b', labels: { app: 'web' } } });
    await make('c', { metadata: { name: 'c', labels: { app: 'db' } } });
    const names = async (labelSelector: string) => {
      const { items } = await core().listNamespacedConfigMap({ namespace: subject.namespace, labelSelector });
      return items.map(({ metadata }) => metadata?.name).filter((name) => name !== 'kube-root-ca.crt');
    };
    expect(await names('app=web')).toEqual(['a', 'b']);
    expect(await names('app==web,tier!=front')).toEqual(['b']);
    expect(await names('app in (web, db),tier')).toEqual(['a']);
    expect(await names('app notin (web)')).toEqual(['c']);
    expect(await names('app,!tier')).toEqual(['b', 'c']);
    expect(await names('tier=back')).toEqual([]);
  });

  test('field selectors on the fields a kind supports, 400 on any other', async () => {
    await make('picked');
    const found = await core().listNamespacedConfigMap({
      namespace: subject.namespace,
      fieldSelector: 'metadata.name=picked',
    });
    expect(found.items).toHaveLength(1);
    const pods = `/api/v1/namespaces/${subject.namespace}/pods`;
    await subject.send('POST', pods, {
      body: { metadata: { name: 'p' }, spec: { ...podSpec(), schedulerName: 'nobody' } },
    });
    const names = async (selector: string) => {
      const { body } = await subject.send('GET', `${pods}?fieldSelector=${encodeURIComponent(selector)}`);
      return body.items.map((item) => item.metadata.name);
    };
    expect(await names('spec.nodeName=,status.phase=Pending')).toEqual(['p']);
    expect(await names('status.phase!=Pending')).toEqual([]);
    const refused = await subject.send('GET', `${pods}?fieldSelector=spec.nothing%3D1`);
    expect(refused).toMatchObject({ code: 400, body: { reason: 'BadRequest' } });
    expect(refused.body.message).toMatch(/field label not supported: spec\.nothing/);
  });

  test('a list comes in pages that neither overlap nor leave gaps', async () => {
    const { namespace } = subject;
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5'])
      await make(name, { metadata: { name, labels: { page: 'yes' } } });
    const seen: (string | undefined)[] = [];
    let token: string | undefined;
    for (let page = 0; page < 5; page++) {
      const { items, metadata } = await core().listNamespacedConfigMap({
        namespace,
        labelSelector: 'page=yes',
        limit: 2,
        ...(token ? { _continue: token } : {}),
      });
      expect(items.length).toBeLessThanOrEqual(2);
      seen.push(...items.map((item) => item.metadata?.name));
      token = metadata?._continue;
      if (!token) break;
    }
    expect(seen).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  });

  test('a dry run answers as if and writes nothing', async () => {
    const tried = await subject.send('POST', `${maps()}?dryRun=All`, {
      body: { metadata: { name: 'ghost' } },
    });
    expect(tried).toMatchObject({ code: 201, body: { metadata: { name: 'ghost' } } });
    expect((await subject.send('GET', `${maps()}/ghost`)).code).toBe(404);
    await make('real');
    const deleted = await subject.send('DELETE', `${maps()}/real`, { body: { dryRun: ['All'] } });
    expect(deleted.code).toBe(200);
    expect((await subject.send('GET', `${maps()}/real`)).code).toBe(200);
  });

  test('a Secret keeps what was given as text', async () => {
    const { namespace } = subject;
    await core().createNamespacedSecret({
      namespace,
      body: { metadata: { name: 'bmc' }, stringData: { password: 'calvin' } },
    });
    const secret = await core().readNamespacedSecret({ namespace, name: 'bmc' });
    expect(secret).toMatchObject({
      type: 'Opaque',
      data: { password: Buffer.from('calvin').toString('base64') },
    });
    expect(secret.stringData).toBeUndefined();
  });

  test('status is written at /status only, and spec is not written there; generation counts spec changes', async () => {
    const { namespace } = subject;
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const labels = { app: 'idle' };
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec() },
    };
    const body = {
      metadata: { name: 'idle' },
      spec: { ...spec, paused: true },
      status: { collisionCount: 7 },
    };
    const created = await subject.send('POST', path, { body });
    expect(created.body.metadata.generation).toBe(1);
    expect(created.body.status?.collisionCount).toBeUndefined();
    const merge = 'application/merge-patch+json';
    const both = { spec: { minReadySeconds: 3 }, status: { collisionCount: 9 } };
    const main = await subject.send('PATCH', `${path}/idle`, { body: both, type: merge });
    expect(main.body).toMatchObject({ metadata: { generation: 2 }, spec: { minReadySeconds: 3 } });
    expect(main.body.status.collisionCount).toBeUndefined();
    const status = await subject.send('PATCH', `${path}/idle/status`, {
      body: { spec: { minReadySeconds: 5 }, status: { collisionCount: 11 } },
      type: merge,
    });
    expect(status.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { minReadySeconds: 3 },
      status: { collisionCount: 11 },
    });
  });

  test('the scale subresource reads and writes the number of replicas', async () => {
    const { namespace } = subject;
    const apps = subject.kubeConfig.makeApiClient(AppsV1Api);
    const labels = { app: 'scaled' };
    const spec = {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec() },
    };
    const body = { metadata: { name: 'scaled' }, spec: { ...spec, paused: true } };
    await apps.createNamespacedDeployment({ namespace, body });
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'scaled' });
    expect(scale).toMatchObject({ kind: 'Scale', spec: {}, status: { selector: 'app=scaled' } });
    // Its controller writes to it too: whoever meets a conflict reads again.
    await until('it is scaled', async () => {
      const current = await apps.readNamespacedDeploymentScale({ namespace, name: 'scaled' });
      const body = { ...current, spec: { replicas: 4 } };
      return apps.replaceNamespacedDeploymentScale({ namespace, name: 'scaled', body });
    });
    const scaled = await apps.readNamespacedDeployment({ namespace, name: 'scaled' });
    expect(scaled.spec?.replicas).toBe(4);
  });

  test('a Lease is renewed by whoever read its latest version', async () => {
    const { namespace } = subject;
    const api = subject.kubeConfig.makeApiClient(CoordinationV1Api);
    const spec = (holderIdentity: string) => ({
      holderIdentity,
      leaseDurationSeconds: 15,
      renewTime: new V1MicroTime(),
    });
    const first = await api.createNamespacedLease({
      namespace,
      body: { metadata: { name: 'lead' }, spec: spec('a') },
    });
    const second = await api.replaceNamespacedLease({
      namespace,
      name: 'lead',
      body: { ...first, spec: spec('b') },
    });
    expect(second.spec?.holderIdentity).toBe('b');
    await expect(
      api.replaceNamespacedLease({ namespace, name: 'lead', body: { ...first, spec: spec('c') } }),
    ).rejects.toMatchObject({ code: 409 });
    const blind = { metadata: { name: 'lead' }, spec: { holderIdentity: 'd' } };
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/lead`;
    const refused = await subject.send('PUT', path, { body: blind });
    expect(refused).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
    expect(refused.body.message).toMatch(
      /metadata\.resourceVersion: Invalid value: .*must be specified for an update/,
    );
  });

  test('Events are found by the object they are about, in both API groups', async () => {
    const { namespace } = subject;
    const involvedObject = { kind: 'ConfigMap', namespace, name: 'subject', apiVersion: 'v1' };
    await core().createNamespacedEvent({
      namespace,
      body: {
        metadata: { name: 'subject.1' },
        involvedObject,
        reason: 'Tested',
        message: 'it was tested',
        type: 'Normal',
        source: { component: 'contract' },
        count: 2,
      },
    });
    const fieldSelector = 'involvedObject.name=subject,reason=Tested';
    const { items } = await core().listNamespacedEvent({ namespace, fieldSelector });
    expect(items).toMatchObject([{ message: 'it was tested', involvedObject, count: 2 }]);
    const modern = await subject.kubeConfig
      .makeApiClient(EventsV1Api)
      .listNamespacedEvent({ namespace, fieldSelector: 'regarding.name=subject' });
    expect(modern.items).toMatchObject([
      { note: 'it was tested', regarding: involvedObject, reason: 'Tested', deprecatedCount: 2 },
    ]);
  });

  test('a deleted namespace takes along what is in it and refuses newcomers meanwhile', async () => {
    const { metadata } = await core().createNamespace({ body: { metadata: { generateName: 'doomed-' } } });
    const name = metadata?.name ?? '';
    const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    await subject.send('POST', `/api/v1/namespaces/${name}/configmaps`, { body: held });
    await subject.send('DELETE', `/api/v1/namespaces/${name}`);
    const late = await subject.send('POST', `/api/v1/namespaces/${name}/configmaps`, {
      body: { metadata: { name: 'late' } },
    });
    expect(late).toMatchObject({ code: 403, body: { reason: 'Forbidden' } });
    expect(late.body.message).toMatch(/because it is being terminated/);
    await until('its content is being deleted', async () => {
      const { body } = await subject.send('GET', `/api/v1/namespaces/${name}/configmaps/held`);
      return body.metadata.deletionTimestamp;
    });
    expect((await subject.send('GET', `/api/v1/namespaces/${name}`)).body.status.phase).toBe('Terminating');
    await subject.send('PATCH', `/api/v1/namespaces/${name}/configmaps/held`, {
      body: { metadata: { finalizers: null } },
      type: 'application/merge-patch+json',
    });
    await until(
      'the namespace is gone',
      async () => (await subject.send('GET', `/api/v1/namespaces/${name}`)).code === 404,
    );
  });

  test('the server tells what it serves', async () => {
    const { body: version } = await subject.send('GET', '/version');
    expect(version).toMatchObject({ major: '1', gitVersion: expect.stringMatching(/^v1\./) });
    const { body: groups } = await subject.send('GET', '/apis');
    const names = groups.groups.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['apps', 'batch', 'policy', 'coordination.k8s.io', 'storage.k8s.io']),
    );
    const { body: resources } = await subject.send('GET', '/api/v1');
    expect(resources.resources).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'pods', kind: 'Pod', namespaced: true, shortNames: ['po'] }),
        expect.objectContaining({ name: 'pods/eviction', kind: 'Eviction', group: 'policy', version: 'v1' }),
        expect.objectContaining({ name: 'nodes', kind: 'Node', namespaced: false }),
      ]),
    );
  });

  test('a pod gets the usual defaults', async () => {
    const { namespace } = subject;
    const body = {
      metadata: { name: 'plain' },
      spec: { schedulerName: 'nobody', containers: [{ ...pause, resources: { limits: { cpu: '1' } } }] },
    };
    const { spec, status } = await core().createNamespacedPod({ namespace, body });
    expect(spec).toMatchObject({
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      serviceAccountName: 'default',
      priority: 0,
      containers: [{ resources: { limits: { cpu: '1' }, requests: { cpu: '1' } } }],
    });
    expect(spec?.tolerations).toEqual(
      expect.arrayContaining([
        {
          key: 'node.kubernetes.io/unreachable',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
      ]),
    );
    expect(status).toMatchObject({ phase: 'Pending', qosClass: 'Burstable' });
  });
}
