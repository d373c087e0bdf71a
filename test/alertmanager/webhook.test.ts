import { createAlertQueue, respondInTime } from '../../functions/evaluate-scaling/alert-queue.ts';
import { EvaluateInput } from '../../functions/evaluate-scaling/handler.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { done } from '../../shared/core/outcome.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { fc } from '../../tools/support/seeded.ts';
import { type MiniWorld, startMiniWorld, tick } from '../faults/mini-world.ts';
import { fixture, webhookEvent } from './payload.ts';

async function withWorld(body: (world: MiniWorld) => Promise<void>, machines = 3): Promise<void> {
  const world = await startMiniWorld({ machines, skewsMs: [0, 0] });
  try {
    // The first look at the BMCs: nothing is powered on before.
    await world.settle();
    await body(world);
  } finally {
    await world.close();
  }
}

const evaluations = async ({ store }: MiniWorld): Promise<number> =>
  JSON.parse((await store.get('/baremetal/global/stats'))?.value ?? '{"evaluations":0}').evaluations;

const operations = async ({ store }: MiniWorld): Promise<string[]> =>
  (await store.list('/baremetal/operations/')).entries.map(({ value }) => {
    const { machine, goal } = JSON.parse(value);
    return `${machine} ${goal}`;
  });

const send = (world: MiniWorld, instance: number, event: ReturnType<typeof webhookEvent>) =>
  world.instances[instance]?.deliver('evaluate-scaling', event);

describe('the payload', () => {
  test.each(['0.25-firing', '0.25-resolved', '0.33-firing'])(
    'of Alertmanager %s is taken as it is',
    (name) => {
      const body = fixture(name);
      expect(EvaluateInput.parse(body)).toEqual({ webhook: body });
    },
  );

  test.each<[string, object]>([
    ['version', { version: '5' }],
    ['alerts', { alerts: [{ status: 'firing', labels: {}, startsAt: '2026-11-16T01:41:01Z' }] }],
    ['alerts', { alerts: [{ status: 'firing', labels: {}, startsAt: 'then', fingerprint: 'ab' }] }],
    [
      'alerts',
      {
        alerts: [
          { status: 'firing', labels: {}, startsAt: '2026-11-16T01:41:01Z', fingerprint: '__proto__' },
        ],
      },
    ],
  ])('is refused where %s is wrong', (field, parts) => {
    const parsed = EvaluateInput.safeParse({ ...fixture('0.33-firing'), ...parts });
    expect(parsed.error?.issues[0]?.path.slice(0, 2)).toEqual(['webhook', field]);
  });
});

test('an alert that steers a pool powers one machine on, with no pod waiting', async () => {
  await withWorld(async (world) => {
    await send(world, 0, webhookEvent({ pool: 'rack' }));
    expect(await operations(world)).toEqual(['m-1 on']);
    await world.instances[1]?.deliver('power-action', tick);
    expect(world.commands).toEqual([{ machine: 'm-1', verb: 'on', by: 'instance-2' }]);
  });
});

test('an alert that names no pool only wakes: waiting pods are served at once', async () => {
  await withWorld(async (world) => {
    await send(world, 0, webhookEvent({}));
    expect(await operations(world)).toEqual([]);
    world.setPods(2);
    await send(world, 0, webhookEvent({}, { fingerprint: 'ab' }));
    expect((await operations(world)).sort()).toEqual(['m-1 on', 'm-2 on']);
  });
});

test('a pair of Alertmanagers that sends twice to two processes: one evaluation, one operation', async () => {
  await withWorld(async (world) => {
    const before = await evaluations(world);
    const event = webhookEvent({ pool: 'rack' });
    await send(world, 0, event);
    await send(world, 1, event);
    await send(world, 0, event);
    expect((await evaluations(world)) - before).toBe(1);
    expect(await operations(world)).toEqual(['m-1 on']);
    await send(world, 1, webhookEvent({ pool: 'rack' }, { startsAt: '2026-11-16T09:00:00Z' }));
    expect((await evaluations(world)) - before).toBe(2);
    // One is on its way: the next episode does not ask for another.
    expect(await operations(world)).toEqual(['m-1 on']);
  });
});

test('what could not be evaluated is not taken for done: the repeat is evaluated', async () => {
  await withWorld(async (world) => {
    const [instance] = world.instances;
    const other = await world.store.acquire('evaluate', 60_000, 'somebody else');
    const event = webhookEvent({ pool: 'rack' });
    await instance?.deliver('evaluate-scaling', event);
    expect(await operations(world)).toEqual([]);
    await other?.release();
    await instance?.deliver('evaluate-scaling', event);
    expect(await operations(world)).toEqual(['m-1 on']);
  });
});

test('who asks while alerts are being written down gets an evaluation of their own', async () => {
  const store = await openStore('embedded:');
  const written = Promise.withResolvers<void>();
  const inventory = createInventory(store, realClock);
  const machines = async () => {
    await written.promise;
    return [];
  };
  const desk = createAlertQueue({ clock: realClock, inventory: { ...inventory, machines } });
  desk.add(EvaluateInput.parse(webhookEvent({ pool: 'rack' }).data).webhook?.alerts ?? []);
  const settled = desk.flush();
  desk.requestEvaluation();
  written.resolve();
  expect(await settled).toBe(true);
  expect(await desk.flush()).toBe(true);
  expect(await desk.flush()).toBe(false);
  await store.close();
});

test('fault 22: `resolved` alone begins no evaluation, and nothing leaves although it could', async () => {
  await withWorld(async (world) => {
    world.setPods(2);
    await world.settle();
    world.setPods(1);
    await world.instances[0]?.deliver('evaluate-scaling', tick);
    world.passTime(3_600_000);
    const before = await evaluations(world);
    for (const fingerprint of ['aa', 'bb'])
      await send(world, 0, webhookEvent({ pool: 'rack' }, { status: 'resolved', fingerprint }));
    expect(await evaluations(world)).toBe(before);
    expect(world.commands.map(({ verb }) => verb)).toEqual(['on', 'on']);
    // A tick, and not the alert, decides that.
    await world.instances[0]?.deliver('evaluate-scaling', tick);
    expect((await operations(world)).filter((one) => one.endsWith('off'))).toHaveLength(1);
  });
});

test('fault 22: no order of webhooks, firing, resolved, doubled or late, powers anything off', async () => {
  const webhook = fc.record({
    instance: fc.nat(1),
    status: fc.constantFrom('firing' as const, 'resolved' as const),
    fingerprint: fc.constantFrom('aa', 'bb'),
    startsAt: fc.constantFrom('2026-11-16T01:00:00Z', '2026-11-16T02:00:00Z'),
    // Together less than what makes an alert that nobody repeats end.
    waits: fc.integer({ min: 0, max: 100_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(webhook, { minLength: 1, maxLength: 8 }), async (webhooks) =>
      withWorld(async (world) => {
        world.setPods(2);
        await world.settle();
        await send(world, 0, webhookEvent({ pool: 'rack' }, { fingerprint: 'cc' }));
        world.setPods(1);
        await world.instances[0]?.deliver('evaluate-scaling', tick);
        for (const { instance, waits, ...alert } of webhooks) {
          world.passTime(waits);
          await send(world, instance, webhookEvent({ pool: 'rack' }, alert));
        }
        expect((await operations(world)).filter((one) => one.endsWith('off'))).toEqual([]);
      }),
    ),
    { numRuns: 8 },
  );
});

test('fault 23: alert storm → coalesced into one evaluation per window, and remembered within bounds', async () => {
  await withWorld(async (world) => {
    const before = await evaluations(world);
    const storm = Array.from({ length: 6_000 }, (_, index) =>
      webhookEvent({ pool: 'rack' }, { fingerprint: index.toString(16) }),
    );
    await Promise.all(storm.map((event) => send(world, 0, event)));
    expect((await evaluations(world)) - before).toBe(1);
    expect(await operations(world)).toEqual(['m-1 on']);
    const book = JSON.parse((await world.store.get('/baremetal/global/alerts'))?.value ?? '{}');
    expect(Object.keys(book.seen)).toHaveLength(1_000);
  });
});

describe('the answer comes before Alertmanager gives up', () => {
  const log = createLog({ level: 'silent', format: 'json' });

  test('when the evaluation takes longer, it goes on without', async () => {
    const slow = Promise.withResolvers<ReturnType<typeof done>>();
    expect(await respondInTime(slow.promise, { log }, 1)).toMatchObject({
      kind: 'done',
      answer: { summary: expect.stringContaining('goes on') },
    });
    slow.reject(new Error('heard of, and nothing more'));
  });

  test('else it is the evaluation’s own, errors included', async () => {
    expect(await respondInTime(Promise.resolve(done('it')), { log })).toEqual(done('it'));
    await expect(respondInTime(Promise.reject(new Error('no store')), { log })).rejects.toThrow('no store');
  });
});
