import { request } from 'node:http';
import { textOf } from '../../shared/core/reasons/reason.ts';
import {
  AboutShape,
  DecisionShape,
  ExplanationShape,
  MachineDetailShape,
  MachineShape,
  PodShape,
  PoolShape,
} from '../../shared/view/shapes.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type HostWorld, startHostWorld } from '../functions/host-harness.ts';

const mini = { cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 1, pool: 'closet' };
let world: HostWorld;
beforeAll(async () => {
  world = await startHostWorld(
    [
      { ...mini, name: 'mini-1' },
      { ...mini, name: 'mini-2' },
    ],
    { autoscaler: { dryRun: true }, pools: [{ name: 'closet' }] },
    async (people) => {
      await people.deploy('web', 1, { cpu: '3', memory: '1Gi' });
      await people.deploy('huge', 1, { cpu: '30', memory: '1Gi' });
      await eventually(async () => {
        const { items } = await people.core.listNamespacedPod({ namespace: 'by-hand' });
        expect(items.filter((pod) => pod.status?.conditions?.[0]?.reason === 'Unschedulable')).toHaveLength(
          2,
        );
      });
    },
  );
  await world.post('/evaluate-scaling', {});
}, 60_000);
afterAll(() => world?.close());

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${world.host.url}${path}`, { headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
};

test('machines and pools, as their shapes have them', async () => {
  const machines = await get('/api/machines');
  expect(machines.body).toMatchObject({ total: 2, items: [{ name: 'mini-1' }, { name: 'mini-2' }] });
  for (const machine of machines.body.items) MachineShape.strict().parse(machine);
  const pools = await get('/api/pools');
  expect(pools.body.items).toMatchObject([{ name: 'closet', machines: 2, ready: 0, states: { off: 2 } }]);
  for (const pool of pools.body.items) PoolShape.strict().parse(pool);
  MachineDetailShape.strict().parse((await get('/api/machines/mini-1')).body);
});

test('the host tells what whoever asks may do', async () => {
  const { body } = await get('/api/about');
  expect(AboutShape.strict().parse(body)).toMatchObject({ dryRun: true, cluster: true, may: 'act' });
});

const short = textOf({ code: 'no-room', resource: 'cpu', needed: 30_000, free: 4000 });

test('the latest decision tells why, and pods tell what becomes of them', async () => {
  const { body } = await get('/api/decisions/latest');
  DecisionShape.strict().parse(body);
  expect(body).toMatchObject({
    powerOn: [expect.stringMatching(/^mini-/)],
    unmet: 1,
    unmetPods: [{ code: 'no-machine-fits' }],
  });
  const pods = await get('/api/pods');
  for (const pod of pods.body.items) PodShape.strict().parse(pod);
  const fates = Object.fromEntries(
    pods.body.items.map((pod: { name: string; why: string }) => [pod.name.split('-')[0], pod.why]),
  );
  expect(fates).toEqual({
    web: 'room for it is there or on its way',
    huge: expect.stringContaining(short),
  });
});

test('why: a pod that nothing can run, a machine, a decision', async () => {
  const pods = await get('/api/pods');
  const huge = pods.body.items.find(({ name }: { name: string }) => name.startsWith('huge')).name;
  const pod = await get(`/api/explain/pod/by-hand/${huge}`);
  expect(ExplanationShape.strict().parse(pod.body).lines).toEqual([
    `by-hand/${huge} waits for 30 cpu, 1Gi memory.`,
    `  mini-1, mini-2  ${short}`,
  ]);
  const machine = await get('/api/explain/machine/mini-1');
  expect(machine.body.lines[0]).toBe('mini-1 of pool closet is off; its power is off.');
  expect((await get('/api/explain/decision/latest')).body.lines[0]).toMatch(
    /^power on mini-.*\(inputs \w+\)$/,
  );
});

test('pages follow one another', async () => {
  const first = await get('/api/machines?limit=1');
  expect(first.body).toMatchObject({ items: [{ name: 'mini-1' }], total: 2, next: 1 });
  const second = await get(`/api/machines?limit=1&after=${first.body.next}`);
  expect(second.body).toMatchObject({ items: [{ name: 'mini-2' }] });
  expect(second.body.next).toBeUndefined();
});

test('what has not changed is not sent again', async () => {
  const etag = (await get('/api/decisions')).headers.get('etag') ?? '';
  expect(await get('/api/decisions', { 'if-none-match': etag })).toMatchObject({
    status: 304,
    body: undefined,
  });
});

test('a long answer is sent compressed to whoever can read that', async () => {
  const sent = async (encoding: string): Promise<string | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    request(`${world.host.url}/api/machines`, {
      headers: { 'accept-encoding': encoding },
    })
      .on('response', (response) => {
        response.resume();
        resolve(response.headers['content-encoding']);
      })
      .on('error', reject)
      .end();
    return promise;
  };
  expect([await sent('gzip, br'), await sent('identity')]).toEqual(['gzip', undefined]);
});

test.each([
  ['/api/machines/none', 404, 'there is no machine called none'],
  ['/api/decisions/d-0', 404, 'there is no decision d-0'],
  ['/api/explain/pod/by-hand/none', 404, 'There is no pod by-hand/none.'],
  ['/api/explain/machine/none', 404, 'There is no machine none.'],
  ['/api/explain/decision/d-0', 404, 'There is no decision d-0.'],
  ['/api/nothing', 404, 'nothing is at /api/nothing'],
  ['/api/machines?limit=0', 400, 'limit'],
  ['/api/machines?after=x', 400, 'after'],
  ['/api/machines/%E0%A4', 400, 'not a path'],
])('GET %s is %d', async (path, status, error) => {
  expect(await get(path)).toMatchObject({ status, body: { error: expect.stringContaining(error) } });
});

test('the description names every path', async () => {
  const { body } = await get('/openapi.json');
  expect(body.openapi).toBe('3.1.0');
  for (const path of ['/api/machines', '/api/machines/{name}', '/api/pools', '/api/decisions', '/api/energy'])
    expect(body.paths[path].get.responses['200'].content['application/json'].schema).toBeDefined();
});

test('the stream tells what kinds of things changed', async () => {
  const stop = new AbortController();
  const response = await fetch(`${world.host.url}/api/stream`, { signal: stop.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await eventually(async () => expect(text).toContain('event: hello'));
  await world.store.commit([], [{ put: '/baremetal/operations/op-x', value: '{"v":1,"id":"op-x"}' }]);
  await eventually(async () => expect(text).toMatch(/event: changed\ndata: \[[^\]]*"operations"/));
  stop.abort();
  await reading;
});
