import { evaluateScaling } from '../../functions/evaluate-scaling/handler.ts';
import { needStepMs } from '../../shared/core/forecast/need-history.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { readNeeds } from '../../shared/state/need-history.ts';
import { pod } from '../core/support/builders.ts';
import { startWorld, type World } from '../power-action/harness.ts';

const machines = ['m-1', 'm-2', 'm-3'].map((name, index) => ({
  name,
  pool: 'workers',
  powerInterface: 'wol' as const,
  macAddress: `52:54:00:00:00:0${index}`,
  resources: { cpu: 4, memory: '16Gi' },
}));

async function withPool(prewarm: object | undefined, body: (world: World) => Promise<void>): Promise<void> {
  const world = await startWorld({ machines, pools: [{ name: 'workers', ...(prewarm && { prewarm }) }] });
  try {
    // Power that nobody has read is unknown: nothing is powered on then.
    await world.process().tick();
    await body(world);
  } finally {
    await world.close();
  }
}

async function evaluate(world: World, waiting: number) {
  const pods = Array.from({ length: waiting }, (_, index) =>
    pod(`p-${index}`, { requests: { cpu: 4_000 }, createdAt: world.clock.now() - 60_000 }),
  );
  const cluster = {
    view: async () => ({ pods, nodes: [] }),
    recordEvent: async () => undefined,
  } as unknown as Cluster;
  const { deps } = world.process();
  const { signal } = new AbortController();
  const outcome = await world.clock.run(
    evaluateScaling({ ...deps, cluster })({}, { trigger: 'test', id: 'test', signal }),
  );
  if (outcome.kind !== 'done') throw new Error(outcome.why);
  return outcome.answer as { readonly powerOn: readonly unknown[]; readonly notes?: readonly string[] };
}

/** A fortnight in which one machine was needed at every other step; the step in which none is ends in a minute. */
async function writeHistory(world: World): Promise<void> {
  const left = needStepMs - (world.clock.now() % needStepMs);
  await world.clock.run(world.clock.sleep(left + needStepMs - 60_000));
  const steps = 14 * 144;
  const first = Math.floor(world.clock.now() / needStepMs) - steps + 1;
  const needs = Array.from({ length: steps }, (_, step) => ((steps - step) % 2 === 0 ? 1 : 0));
  await world.store.commit(
    [],
    [{ put: keys.needs('workers'), value: encode({ start: first * needStepMs, needs }) }],
  );
}

test('what a pool needs is added to its history, pods that wait included', async () => {
  await withPool(undefined, async (world) => {
    await evaluate(world, 2);
    expect((await readNeeds(world.store, 'workers'))?.needs).toEqual([2]);
  });
});

test('a machine is powered on ahead of need, and the record says which forecast it was', async () => {
  await withPool({ confidence: 0.95, horizon: '1h' }, async (world) => {
    await writeHistory(world);
    await world.process().tick();
    const { powerOn, notes } = await evaluate(world, 0);
    expect(powerOn).toHaveLength(1);
    expect(notes?.join()).toContain('95 % sure) expects pool workers to need');
  });
});

test('without prewarm the same history changes nothing', async () => {
  await withPool(undefined, async (world) => {
    await writeHistory(world);
    const { powerOn, notes = [] } = await evaluate(world, 0);
    expect(powerOn).toEqual([]);
    expect(notes.join()).not.toContain('forecast');
  });
});
