import { functionTable } from '../../functions/index.ts';
import { runPowerOperation } from '../../functions/power-action/run-operation.ts';
import { events, machineEvent } from '../../shared/ports/event-types.ts';
import { cases } from '../../tools/support/long.ts';
import { fc } from '../../tools/support/seeded.ts';
import { type MiniWorld, startMiniWorld, tick } from './mini-world.ts';

const machineEvents = [
  events.powerRequested,
  events.drainRequested,
  events.machinePowered,
  events.machineJoined,
  events.machineDrained,
  events.machineStopped,
  events.machineFailed,
];

/** Any event of ours about any machine, delivered to any function that listens to it. */
const delivery = (instances: number) =>
  fc.record({
    instance: fc.nat(instances - 1),
    row: fc.nat(functionTable.length - 1),
    event: fc.oneof(
      fc.constant(tick),
      fc
        .tuple(fc.constantFrom(...machineEvents), fc.constantFrom('m-1', 'm-2'))
        .map(([type, machine]) => machineEvent(type, machine)),
    ),
  });

async function withWorld(
  options: Parameters<typeof startMiniWorld>[0],
  body: (world: MiniWorld) => Promise<void>,
) {
  const world = await startMiniWorld(options);
  try {
    await body(world);
  } finally {
    await world.close();
  }
}

async function deliverAll(
  world: MiniWorld,
  deliveries: readonly { instance: number; row: number; event: typeof tick }[],
  together: boolean,
): Promise<void> {
  const send = ({ instance, row, event }: (typeof deliveries)[number]): Promise<void> | undefined => {
    const { definition } = functionTable[row] ?? functionTable[0];
    if (!definition.wakesOn.includes(event.type)) return undefined;
    return world.instances[instance]?.deliver(definition.name, event);
  };
  if (together) await Promise.all(deliveries.map(send));
  else for (const one of deliveries) await send(one);
}

const operations = async ({ store }: MiniWorld) =>
  (await store.list('/baremetal/operations/')).entries.map(({ value }) => JSON.parse(value));

/** No second command may contradict the first: one on, then one off, for each machine and each turn. */
function commandsOf(world: MiniWorld, machine: string): string {
  return world.commands
    .filter((command) => command.machine === machine)
    .map(({ verb }) => verb)
    .join(' ');
}

test('fault 1: duplicate event → one operation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 6 }), fc.boolean(), async (copies, together) =>
      withWorld({ skewsMs: [0, 0] }, async (world) => {
        await world.settle();
        world.setPods(2);
        const twice = (row: number) =>
          Array.from({ length: copies }, (_, index) => ({ instance: index % 2, row, event: tick }));
        await deliverAll(world, twice(0), together);
        const requested = world.pending.filter(({ type }) => type === events.powerRequested);
        await deliverAll(
          world,
          requested.flatMap((event) =>
            Array.from({ length: copies }, (_, index) => ({ instance: index % 2, row: 1, event })),
          ),
          together,
        );
        expect((await operations(world)).map(({ machine, goal }) => `${machine} ${goal}`).sort()).toEqual([
          'm-1 on',
          'm-2 on',
        ]);
        expect(commandsOf(world, 'm-1')).toBe('on');
        expect(commandsOf(world, 'm-2')).toBe('on');
      }),
    ),
    { numRuns: cases(30, 5) },
  );
});

test('fault 2: reordered or stale event → the state is read again, the event ignored', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(delivery(1), { minLength: 1, maxLength: 20 }),
      fc.boolean(),
      async (deliveries, together) =>
        withWorld({}, async (world) => {
          // Two machines serve two pods: nothing is to be done, whatever old events say.
          await world.settle();
          world.setPods(2);
          await world.settle();
          const before = [...world.commands];
          const { revision } = await world.store.list('/baremetal/nodes/m-1/status');
          expect(commandsOf(world, 'm-1')).toBe('on');
          await deliverAll(world, deliveries, together);
          expect(world.commands).toEqual(before);
          const status = await world.store.get('/baremetal/nodes/m-1/status');
          expect(status?.revision).toBeLessThanOrEqual(revision);
        }),
    ),
    { numRuns: cases(60, 8) },
  );
});

test('fault 6: whoever believes to hold a lease → at most one operation is accepted per machine', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(delivery(3), { maxLength: 12 }), async (deliveries) =>
      withWorld({ skewsMs: [0, 0, 0], leasesFail: true }, async (world) => {
        await world.settle();
        world.setPods(2);
        const evaluations = [0, 1, 2].map((instance) => ({ instance, row: 0, event: tick }));
        await deliverAll(world, [...evaluations, ...deliveries, ...evaluations], true);
        const accepted = await operations(world);
        expect(accepted.map(({ machine, goal }) => `${machine} ${goal}`).sort()).toEqual([
          'm-1 on',
          'm-2 on',
        ]);
        await world.settle();
        for (const { machine, end } of await operations(world))
          expect(`${machine} ${end}`).toBe(`${machine} done`);
      }),
    ),
    { numRuns: cases(40, 5) },
  );
});

test('power-action never commands a machine that is still being drained', async () => {
  await withWorld({}, async (world) => {
    await world.settle();
    world.setPods(1);
    await world.settle();
    world.setPods(0);
    const [instance] = world.instances;
    for (let round = 0; round < 3; round += 1) {
      await instance?.deliver('evaluate-scaling', tick);
      world.passTime(120_000);
    }
    const status = JSON.parse((await world.store.get('/baremetal/nodes/m-1/status'))?.value ?? '{}');
    expect(status).toMatchObject({ state: 'draining', operation: expect.any(String) });
    if (instance) await runPowerOperation(instance.deps, 'm-1', new AbortController().signal);
    expect(commandsOf(world, 'm-1')).toBe('on');
  });
});

test('a node that came back under another name is still emptied before its machine is powered off', async () => {
  await withWorld({ machines: 1 }, async (world) => {
    await world.settle();
    world.setPods(1);
    await world.settle();
    expect(world.pods().map(({ node }) => node)).toEqual(['m-1']);
    const [instance] = world.instances;
    const key = '/baremetal/nodes/m-1/status';
    const ready = await world.store.get(key);
    const status = JSON.parse(ready?.value ?? '{}');
    const draining = { ...status, state: 'draining', operation: 'op-1' };
    await world.store.commit([], [{ put: key, value: JSON.stringify(draining) }]);
    world.renameNode('m-1', 'new-name');
    await instance?.deliver('drain-node', tick);
    // Not taken for gone, which would mean nothing is left to lose: cordoned, and its pod evicted.
    expect(world.pods().map(({ node }) => node)).toEqual([undefined]);
    expect(await instance?.deps.cluster.node('new-name')).toMatchObject({ unschedulable: true });
    expect(commandsOf(world, 'm-1')).toBe('on');
  });
});

test('fault 12: clock skew between functions → nothing doubled, nothing lost, every operation ends', async () => {
  const skew = fc.integer({ min: -3_600_000, max: 3_600_000 });
  await fc.assert(
    fc.asyncProperty(
      skew,
      skew,
      fc.array(delivery(2), { maxLength: 12 }),
      async (first, second, deliveries) =>
        withWorld({ skewsMs: [first, second] }, async (world) => {
          await world.settle();
          world.setPods(2);
          await deliverAll(world, deliveries, true);
          await world.settle();
          expect(
            world
              .pods()
              .map(({ node }) => node)
              .sort(),
          ).toEqual(['m-1', 'm-2']);
          world.setPods(0);
          await deliverAll(world, deliveries, true);
          await world.settle();
          expect([...world.power.values()]).toEqual(['off', 'off']);
          expect(world.lost).toEqual([]);
          for (const { machine, end } of await operations(world))
            expect(`${machine} ${end}`).toBe(`${machine} done`);
          for (const machine of ['m-1', 'm-2']) expect(commandsOf(world, machine)).toMatch(/^on soft-off$/);
        }),
    ),
    { numRuns: cases(40, 5) },
  );
});

test('fault 30: two evaluations at once → the pool maximum is never exceeded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: 6 }),
      fc.array(delivery(3), { maxLength: 12 }),
      async (maxNodes, pods, deliveries) =>
        withWorld({ machines: 5, maxNodes, skewsMs: [0, 0, 0] }, async (world) => {
          await world.settle();
          world.setPods(pods);
          const evaluations = [0, 1, 2].map((instance) => ({ instance, row: 0, event: tick }));
          await deliverAll(world, [...evaluations, ...deliveries, ...evaluations], true);
          await world.settle();
          const on = [...world.power.values()].filter((power) => power === 'on').length;
          expect(on).toBe(Math.min(maxNodes, pods));
          expect(world.commands.filter(({ verb }) => verb === 'on')).toHaveLength(on);
        }),
    ),
    { numRuns: cases(40, 5) },
  );
});
