import { until } from '../../tools/worlds/cluster-client.ts';
import type { Subject } from './cluster-subject.ts';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
const apply = 'application/apply-patch+yaml';

/** The ways to change a part of an object. */
export function patchTests(subject: Subject): void {
  const maps = () => `/api/v1/namespaces/${subject.namespace}/configmaps`;
  const make = (name: string, data: Record<string, string>) =>
    subject.send('POST', maps(), { body: { metadata: { name }, data } });

  test('a JSON patch adds, replaces, removes, tests and escapes', async () => {
    await make('a', { one: '1', two: '2' });
    const patch = [
      { op: 'test', path: '/data/one', value: '1' },
      { op: 'replace', path: '/data/one', value: 'uno' },
      { op: 'remove', path: '/data/two' },
      { op: 'add', path: '/metadata/labels', value: {} },
      { op: 'add', path: '/metadata/labels/example.com~1team', value: 'red' },
    ];
    const patched = await subject.send('PATCH', `${maps()}/a`, { body: patch, type: jsonPatch });
    expect(patched).toMatchObject({ code: 200, body: { data: { one: 'uno' } } });
    expect(patched.body.data.two).toBeUndefined();
    expect(patched.body.metadata.labels).toEqual({ 'example.com/team': 'red' });
    const failing = [{ op: 'test', path: '/data/one', value: '1' }];
    expect((await subject.send('PATCH', `${maps()}/a`, { body: failing, type: jsonPatch })).code).toBe(422);
    const nowhere = [{ op: 'remove', path: '/data/nothing' }];
    expect((await subject.send('PATCH', `${maps()}/a`, { body: nowhere, type: jsonPatch })).code).toBe(422);
  });

  test('a merge patch merges fields, removes nulls and replaces lists', async () => {
    await make('a', { one: '1', two: '2' });
    const body = { data: { two: null, three: '3' }, metadata: { finalizers: ['example.com/x'] } };
    const patched = await subject.send('PATCH', `${maps()}/a`, { body, type: mergePatch });
    expect(patched.body.data).toEqual({ one: '1', three: '3' });
    const replaced = await subject.send('PATCH', `${maps()}/a`, {
      body: { metadata: { finalizers: ['example.com/y'] } },
      type: mergePatch,
    });
    expect(replaced.body.metadata.finalizers).toEqual(['example.com/y']);
    await subject.send('PATCH', `${maps()}/a`, {
      body: { metadata: { finalizers: null } },
      type: mergePatch,
    });
  });

  test('a patch that names an old version is refused', async () => {
    const { body } = await make('a', { n: '0' });
    await subject.send('PATCH', `${maps()}/a`, { body: { data: { n: '1' } }, type: mergePatch });
    const old = { metadata: { resourceVersion: body.metadata.resourceVersion }, data: { n: '2' } };
    const late = await subject.send('PATCH', `${maps()}/a`, { body: old, type: mergePatch });
    expect(late).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
  });

  test('a strategic patch merges lists whose items have names and replaces the others', async () => {
    const path = `/apis/apps/v1/namespaces/${subject.namespace}/deployments`;
    const labels = { app: 'p' };
    const containers = [
      {
        name: 'a',
        image: 'a:1',
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '1' },
        ],
      },
      { name: 'b', image: 'b:1' },
    ];
    const tolerations = [{ key: 'old', operator: 'Exists' }];
    await subject.send('POST', path, {
      body: {
        metadata: { name: 'd' },
        spec: {
          replicas: 0,
          paused: true,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers, tolerations } },
        },
      },
    });
    const change = (spec: object) =>
      subject.send('PATCH', `${path}/d`, { body: { spec: { template: { spec } } }, type: strategicPatch });
    const merged = await change({
      containers: [
        {
          name: 'a',
          image: 'a:2',
          env: [
            { name: 'X', value: '2' },
            { name: 'Y', $patch: 'delete' },
          ],
        },
      ],
      tolerations: [{ key: 'new', operator: 'Exists' }],
    });
    expect(merged.code).toBe(200);
    const { spec } = merged.body.spec.template;
    expect(spec.containers).toMatchObject([
      { name: 'a', image: 'a:2', env: [{ name: 'X', value: '2' }] },
      { name: 'b', image: 'b:1' },
    ]);
    expect(spec.containers[0]?.env).toHaveLength(1);
    expect(spec.tolerations).toEqual([{ key: 'new', operator: 'Exists' }]);
    const removed = await change({ containers: [{ name: 'b', $patch: 'delete' }] });
    expect(removed.body.spec.template.spec.containers).toMatchObject([{ name: 'a' }]);
  });

  test("a strategic patch replaces a node's taints and merges its conditions", async () => {
    const name = `patched-${subject.namespace}`;
    const taints = [{ key: 'one', value: '1', effect: 'NoSchedule' }];
    await subject.harness.addNode(name, { taints });
    try {
      const added = await subject.send('PATCH', `/api/v1/nodes/${name}`, {
        body: { spec: { taints: [{ key: 'two', effect: 'NoSchedule' }] } },
        type: strategicPatch,
      });
      expect(added.body.spec.taints).toEqual([{ key: 'two', effect: 'NoSchedule' }]);
      const status = await subject.send('PATCH', `/api/v1/nodes/${name}/status`, {
        body: {
          status: { conditions: [{ type: 'Contract', status: 'True', reason: 'Tested', message: 'ok' }] },
        },
        type: strategicPatch,
      });
      const types = status.body.status.conditions.map(({ type }) => type);
      expect(types).toEqual(expect.arrayContaining(['Ready', 'Contract']));
    } finally {
      await subject.harness.removeNode(name);
    }
  });

  test('a strategic patch adds to finalizers and takes from them by directive', async () => {
    await subject.send('POST', maps(), { body: { metadata: { name: 'f', finalizers: ['example.com/a'] } } });
    const add = { metadata: { finalizers: ['example.com/b'] } };
    const added = await subject.send('PATCH', `${maps()}/f`, { body: add, type: strategicPatch });
    expect(added.body.metadata.finalizers.toSorted()).toEqual(['example.com/a', 'example.com/b']);
    const take = { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'example.com/b'] } };
    const taken = await subject.send('PATCH', `${maps()}/f`, { body: take, type: strategicPatch });
    expect(taken.body.metadata.finalizers).toBeUndefined();
  });

  test('server-side apply creates, then changes', async () => {
    const body = (value: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\ndata:\n  key: ${value}\n`;
    const path = `${maps()}/applied?fieldManager=contract`;
    const created = await subject.send('PATCH', path, { body: body('one'), type: apply });
    expect(created).toMatchObject({ code: 201, body: { data: { key: 'one' } } });
    const changed = await subject.send('PATCH', path, { body: body('two'), type: apply });
    expect(changed).toMatchObject({ code: 200, body: { data: { key: 'two' } } });
  });

  test('many writers adding to one object at once lose nothing', async () => {
    await make('busy', { start: '0' });
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`);
    await Promise.all(
      keys.map((key) =>
        until(`${key} is written`, async () => {
          const { body } = await subject.send('GET', `${maps()}/busy`);
          const next = { ...body, data: { ...body.data, [key]: '1' } };
          return (await subject.send('PUT', `${maps()}/busy`, { body: next })).code === 200;
        }),
      ),
    );
    const { body } = await subject.send('GET', `${maps()}/busy`);
    expect(Object.keys(body.data).toSorted()).toEqual([...keys, 'start'].toSorted());
  });
}
