import { events } from '../../shared/ports/event-types.ts';
import type { PressureReport } from '../../shared/schema/pressure.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type HostWorld, startHostWorld } from '../functions/host-harness.ts';
import { report } from './report.ts';

const like = { cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 1, pool: 'rack' };
let world: HostWorld;
let sequence = 1;

beforeAll(async () => {
  world = await startHostWorld(
    [
      { ...like, name: 'n1', on: true },
      { ...like, name: 'cpu-rich', memory: '8Gi' },
      { ...like, name: 'memory-rich', cpu: 2, watts: { idle: 90, max: 300 } },
    ],
    { pools: [{ name: 'rack', scaleDown: { unneededFor: '1h' } }] },
    async (people) => {
      await people.deploy('web', 2, { cpu: '1500m', memory: '1Gi' });
      await eventually(async () => expect(await people.running('web')).toEqual(['n1', 'n1']));
    },
  );
  await eventually(async () => {
    await world.host.emit({ type: events.tick, subject: 'everything', data: {} });
    expect(await stateOf('n1')).toBe('ready');
  });
  // What the ticks began is over when nothing is written any more.
  await eventually(async () => {
    const before = await world.revision();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await world.revision()).toBe(before);
  });
}, 90_000);
afterAll(() => world?.close());

const stateOf = async (machine: string): Promise<string> =>
  JSON.parse((await world.store.get(`/baremetal/nodes/${machine}/status`))?.value ?? '{}').state;
const known = async (): Promise<unknown> => (await world.store.list('/baremetal/global/pressure-')).entries;
const evaluations = async (): Promise<number> =>
  JSON.parse((await world.store.get('/baremetal/global/stats'))?.value ?? '{"evaluations":0}').evaluations;

const send = (data: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${world.host.url}/evaluate-scaling`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': `p-${Math.random()}`,
      'ce-source': '/bamel/sensor/n1',
      'ce-type': events.pressureChanged,
      ...headers,
    },
    body: JSON.stringify(data),
  });
const tell = (parts: Partial<PressureReport>): Promise<Response> => {
  sequence += 1;
  return send({ pressure: report({ sequence, ...parts }) });
};

test.each<[string, unknown, number]>([
  ['an unknown node', { pressure: report({ node: 'elsewhere' }) }, 422],
  ['a level above 1', { pressure: report({ level: 1.01 }) }, 400],
  ['a level below 0', { pressure: report({ level: -0.1 }) }, 400],
  ['a share that is no number', { pressure: { ...report(), share: null } }, 400],
  ['an unknown category', { pressure: { ...report(), category: 'luck' } }, 400],
  ['calm that rises', { pressure: report({ to: 'calm' }) }, 400],
  ['a sign against its bands', { pressure: report({ sign: 'falling' }) }, 400],
  [
    'a hundred pods',
    { pressure: report({ pods: Array.from({ length: 100 }, () => ({ uid: 'a', share: 0 })) }) },
    400,
  ],
  ['no sequence number', { pressure: report({ sequence: 0 }) }, 400],
  ['fields nobody knows', { pressure: { ...report(), more: 1 } }, 400],
])('%s changes nothing', async (_what, data, status) => {
  const before = await world.revision();
  const response = await send(data);
  expect([response.status, await world.revision()]).toEqual([status, before]);
});

test('a caller who may not call changes nothing', async () => {
  const before = await world.revision();
  const response = await send({ pressure: report({ sequence: 9 }) }, { origin: 'http://elsewhere.example' });
  expect([response.status, await world.revision()]).toEqual([403, before]);
});

test('10,000 events: one evaluation for all that come together, and one entry that says the newest', async () => {
  const before = await evaluations();
  const first = sequence + 1;
  sequence += 10_000;
  for (let number = first; number <= sequence; number += 1) {
    const severe = number % 2 === 0;
    // Each is news to the one before.
    const pressure = report({
      sequence: number,
      category: 'network',
      level: 0.1,
      from: severe ? 'pressed' : 'severe',
      to: severe ? 'severe' : 'pressed',
      sign: severe ? 'rising' : 'falling',
    });
    await world.host.emit({ type: events.pressureChanged, subject: `n1/${number}`, data: { pressure } });
  }
  await eventually(async () => expect(JSON.stringify(await known())).toContain(`\\"sequence\\":${sequence}`));
  const taken = (await evaluations()) - before;
  expect(taken).toBeGreaterThan(0);
  // 256 are handled at a time: all of them share a look.
  expect(taken).toBeLessThanOrEqual(2 * Math.ceil(10_000 / 256));
});

test('a number that was there before changes nothing: neither a replay nor an old one', async () => {
  const old = report({ sequence: sequence + 1, category: 'storage', level: 0.1 });
  sequence += 1;
  expect((await send({ pressure: old })).status).toBe(204);
  const before = await known();
  for (const replayed of [old, { ...old, sequence: 1, level: 1, category: 'cpu' as const }])
    expect((await send({ pressure: replayed })).status).toBe(204);
  expect(await known()).toMatchObject(
    (before as { key: string }[]).map(({ key }) => ({
      key,
      value: expect.not.stringContaining('"level":1,'),
    })),
  );
});

test('memory is short while nothing waits: the machine with memory is powered on, and new replicas land there', async () => {
  const { items } = await world.people.core.listNamespacedPod({ namespace: 'by-hand' });
  const pods = items.map(({ metadata }) => ({ uid: metadata?.uid ?? '', share: 0.4 }));
  expect((await tell({ category: 'memory', pods, unattributed: 0.2 })).status).toBe(204);
  await eventually(async () => {
    await world.host.emit({ type: events.tick, subject: 'everything', data: {} });
    expect(await stateOf('memory-rich')).toBe('ready');
  }, 60_000);
  expect(await stateOf('cpu-rich')).toBe('off');
  const { entries } = await world.store.list('/baremetal/decisions/');
  const wants = entries.flatMap(({ value }) => JSON.parse(value).wants);
  expect(wants).toContainEqual(
    expect.stringMatching(
      /^memory pressure on n1 is rising, at 80 % \(by-hand\/web-\S+ 40 %, by-hand\/web-\S+ 40 %\)$/,
    ),
  );
  const told = await world.people.core.listNamespacedEvent({ namespace: 'default' });
  expect(told.items.map(({ reason, involvedObject: { name } }) => `${reason} ${name}`)).toContain(
    'PressureRising n1',
  );

  await world.people.scale('web', 4);
  await eventually(async () => expect(await world.people.running('web')).toContain('memory-rich'));
}, 120_000);
