import { readFileSync } from 'node:fs';
import { eventually } from '../../tools/support/eventually.ts';
import { closing } from '../support/cleanup.ts';
import { type HostWorld, startHostWorld } from './host-harness.ts';

const mini = { cpu: 4, memory: '16Gi', watts: { idle: 12, max: 65 }, bootSeconds: 1, pool: 'closet' };
const webhook = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../fixtures/events/alertmanager-${name}.json`, import.meta.url), 'utf8'))
    .body;

/** A decision is written down, but nothing follows: what is answered stays true for the whole file. */
const onlyDecide = { autoscaler: { dryRun: true }, pools: [{ name: 'closet' }] };

describe('by hand', () => {
  let world: HostWorld;
  beforeAll(async () => {
    world = await startHostWorld(
      [
        { ...mini, name: 'mini-1' },
        { ...mini, name: 'mini-2', cpu: 1 },
      ],
      onlyDecide,
      async (people) => {
        await people.deploy('web', 1, { cpu: '3', memory: '1Gi' });
        await eventually(async () => {
          const { items } = await people.core.listNamespacedPod({ namespace: 'by-hand' });
          expect(items[0]?.status?.conditions?.[0]).toMatchObject({ reason: 'Unschedulable' });
        });
      },
    );
  }, 60_000);
  afterAll(() => world?.close());

  const readable = {
    summary: expect.stringContaining('power on mini-1'),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    demand: [
      { pods: 1, requests: ['3 cpu', '1Gi memory'], example: expect.stringMatching(/^by-hand\/web-/) },
    ],
    powerOn: [{ machine: 'mini-1', why: expect.stringMatching(/\w/), watts: 65 }],
    powerOff: [],
    rejected: [{ machine: 'mini-2', code: 'no-room', why: expect.stringMatching(/\w/) }],
    unmet: [],
  };

  test('POST {} decides, and answers what a person can read', async () => {
    const { status, body } = await world.post('/evaluate-scaling', {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ decision: expect.stringMatching(/^d-/), ...readable });
    // The same words are to be found later.
    const { lastEvaluation } = JSON.parse((await world.store.get('/baremetal/global/stats'))?.value ?? '');
    expect(lastEvaluation.summary).toBe(body.summary);
  });

  test('without a body, as curl -X POST sends it', async () => {
    expect(await world.post('/evaluate-scaling', '')).toMatchObject({ status: 200, body: readable });
  });

  test('POST {"dryRun": true} answers the same and writes nothing', async () => {
    const before = await world.revision();
    const { status, body } = await world.post('/evaluate-scaling', { dryRun: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ decision: 'dry run', ...readable });
    expect(await world.revision()).toBe(before);
  });

  test.each(['0.25-firing', '0.33-firing'])(
    'Alertmanager’s own webhook (%s) is an occasion to look',
    async (name) => {
      expect(await world.post('/evaluate-scaling', webhook(name))).toMatchObject({
        status: 200,
        body: readable,
      });
    },
  );

  test.each(['power-action', 'drain-node', 'join-watcher'])(
    'a machine that %s does not know',
    async (name) => {
      const before = await world.revision();
      expect(await world.post(`/${name}`, { machine: 'mini-9' })).toEqual({
        status: 422,
        body: { error: 'there is no machine called mini-9' },
      });
      expect(await world.revision()).toBe(before);
    },
  );

  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const deepInside = `{"machine":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
  const nonsense: [what: string, body: string, error: RegExp][] = [
    ['no JSON', 'power on mini-1', /malformed JSON at position 0: unexpected "p"/],
    ['an end too early', '{"machine":"mini-1"', /malformed JSON at position 19: it ends too early/],
    ['100,000 levels of lists', deep, /JSON is nested deeper than 64 levels/],
    ['100,000 levels in a field', deepInside, /JSON is nested deeper than 64 levels/],
    ['a list', '[]', /expected object, received array/],
    ['nothing', 'null', /expected object, received null/],
    ['a number for a name', '{"machine":1}', /machine: expected string, received number/],
    ['an unknown field', '{"machien":"mini-1"}', /machien: unknown field. Did you mean machine\?/],
    ['a field that objects have anyway', '{"__proto__":{"machine":"mini-1"}}', /__proto__: unknown field/],
  ];

  describe.each(['evaluate-scaling', 'power-action', 'drain-node', 'join-watcher'])('%s', (name) => {
    test.each(nonsense)(
      'fault 33: %s → 400 that says what is wrong, nothing changed',
      async (_, text, error) => {
        const before = await world.revision();
        const { status, body } = await world.post(`/${name}`, text);
        expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringMatching(error) });
        expect(await world.revision()).toBe(before);
      },
    );

    test('fault 34: an oversized body → 413 before it is parsed, nothing changed', async () => {
      const before = await world.revision();
      // Malformed as well: whoever parsed it first would complain about that.
      const { status, body } = await world.post(`/${name}`, `{${' '.repeat(3 * 2 ** 20)}`);
      expect(status).toBe(413);
      expect(body).toEqual({ error: 'the body is larger than 2097152 bytes', limitBytes: 2_097_152 });
      expect(await world.revision()).toBe(before);
    });

    test('and the host goes on', async () => {
      expect(await world.post(`/${name}`, {})).toMatchObject({ status: 200 });
    });
  });
});

test('fault 22: a "resolved" alert powers nothing off, however idle the machines are', async () => {
  const world = closing(
    await startHostWorld([{ ...mini, name: 'mini-1', on: true }], {
      pools: [{ name: 'closet', scaleDown: { unneededFor: '1h' } }],
    }),
  );
  const commands = () => world.lab.machines.get('mini-1')?.machine.commands;
  // Found on, joined, idle: as ripe as it gets before its time.
  await eventually(async () => {
    await world.post('/power-action', {});
    await world.post('/join-watcher', {});
    const status = JSON.parse((await world.store.get('/baremetal/nodes/mini-1/status'))?.value ?? '{}');
    expect(status).toMatchObject({ state: 'ready', powerState: 'on' });
  });
  for (let times = 0; times < 3; times += 1) {
    const { status, body } = await world.post('/evaluate-scaling', webhook('0.25-resolved'));
    expect(status).toBe(200);
    // Alone it begins no evaluation; it may come to share one that somebody else asked for.
    expect(body.powerOff ?? []).toEqual([]);
  }
  expect(JSON.parse((await world.store.get('/baremetal/nodes/mini-1/status'))?.value ?? '{}')).toMatchObject({
    state: 'ready',
  });
  expect((await world.store.list('/baremetal/operations/')).entries).toEqual([]);
  expect(commands()).toEqual([]);
}, 60_000);
