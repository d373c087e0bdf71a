import { actsOf } from '../../apps/console/acts.ts';
import type { Deps } from '../../functions/deps.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { type RunningServer, serve } from '../../shared/server/serve.ts';
import { node } from '../core/support/builders.ts';
import { startWorld, type World } from '../power-action/harness.ts';

let world: World;
let served: RunningServer;
/** What was asked of the cluster; a view is all that it may be asked for. */
const asked: string[] = [];
const cluster = new Proxy(
  {},
  {
    get: (_, name) => async () => {
      asked.push(String(name));
      return { nodes: [node('m-1'), node('m-2')], pods: [] };
    },
  },
) as Deps['cluster'];

beforeEach(async () => {
  world = await startWorld({ machines: [{ name: 'm-1' }, { name: 'm-2' }] });
  await world.process().tick();
  const { deps } = world.process();
  served = await serve(actsOf({ ...deps, cluster }), {
    host: '127.0.0.1',
    port: 0,
    log: deps.log,
    metrics: createMetrics(),
  });
  asked.length = 0;
  world.emitted.length = 0;
});
afterEach(async () => {
  await served.close();
  await world.close();
});

const serving = async (name: string): Promise<void> => {
  const { status } = await world.record(name);
  const now = { ...status, state: 'ready', powerState: 'on', kubernetesNode: name, nodeReady: true };
  await world.store.commit(
    [],
    [{ put: `/baremetal/nodes/${name}/status`, value: JSON.stringify({ v: 1, ...now }) }],
  );
};
const post = async (path: string, body: object) => {
  const response = await fetch(`${served.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
};
const by = 'the console';

test('power on is written to the store, and whoever powers machines is woken; nothing is done here', async () => {
  expect(await post('/power-action', { machine: 'm-1', power: 'on', by })).toMatchObject({
    status: 200,
    body: { ok: true, answer: 'm-1 is powering-on' },
  });
  const { status, history } = await world.record('m-1');
  expect([status.state, history.at(-1)?.by]).toEqual(['powering-on', by]);
  expect(world.emitted).toMatchObject([{ type: 'dev.bamel.power.requested', subject: 'm-1' }]);
  expect(world.commands('m-1')).toEqual([]);
});

test('a drain is begun and called off again', async () => {
  await serving('m-1');
  await serving('m-2');
  expect(await post('/drain-node', { machine: 'm-1', action: 'drain', by })).toMatchObject({ status: 200 });
  expect((await world.record('m-1')).status.state).toBe('draining');
  expect(await post('/drain-node', { machine: 'm-1', action: 'uncordon', by })).toMatchObject({
    status: 200,
  });
  expect((await world.record('m-1')).status.state).toBe('ready');
  expect(world.emitted.map(({ type }) => type)).toEqual([
    'dev.bamel.drain.requested',
    'dev.bamel.drain.aborted',
  ]);
  expect(new Set(asked)).toEqual(new Set(['view']));
});

test('maintenance, there and back; a retry', async () => {
  for (const [maintenance, state] of [
    [true, 'maintenance'],
    [false, 'off'],
  ] as const) {
    expect(await post('/power-action', { machine: 'm-2', maintenance, by })).toMatchObject({ status: 200 });
    expect((await world.record('m-2')).status.state).toBe(state);
  }
  expect(await post('/power-action', { machine: 'm-2', lift: true, by })).toMatchObject({ status: 200 });
  expect((await world.record('m-2')).status.acknowledgedAt).toBeDefined();
});

test.each([
  ['/power-action', {}, 'what is to be done'],
  ['/power-action', { machine: 'm-1' }, 'what is to be done'],
  ['/drain-node', {}, 'what is to be done'],
  ['/drain-node', { machine: 'm-1', action: 'uncordon' }, 'kubectl uncordon'],
  ['/power-action', { machine: 'none', power: 'on' }, 'there is no machine called none'],
])('%s with %j is refused, and nothing is changed in the cluster', async (path, body, why) => {
  expect(await post(path, body)).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining(why) },
  });
  expect(asked.filter((name) => name !== 'view')).toEqual([]);
});
