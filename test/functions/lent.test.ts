import { evaluateScaling } from '../../functions/evaluate-scaling/handler.ts';
import type { Pod } from '../../shared/core/cluster/cluster.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import { type FailpointName, remoteFailpoints } from '../../shared/process/failpoints.ts';
import { encode } from '../../shared/state/codec.ts';
import { keys } from '../../shared/state/keys.ts';
import { offer, roamers } from '../core/support/offers.ts';
import { startWorld, type World } from '../power-action/harness.ts';
import { closing } from '../support/cleanup.ts';

interface Evaluated {
  readonly powerOn: readonly { readonly machine: string; readonly price?: number }[];
  readonly madeLarger?: readonly { readonly machine: string }[];
  readonly offers: readonly { readonly offer: string; readonly verdict: string }[];
}

/** evaluate-scaling on a real store with one offer in it. */
async function withOffer(
  body: (
    world: World,
    evaluate: (waiting: number, fail?: FailpointName) => Promise<Evaluated>,
  ) => Promise<void>,
): Promise<void> {
  const world = closing(
    await startWorld({
      machines: [],
      pools: [
        { name: 'remote', template: { provider: 'liqo', namePrefix: 'lent' }, limits: { hourlyCost: 0.6 } },
      ],
    }),
  );
  const given = offer('berlin.silver', { validUntil: world.clock.now() + 3_600_000 });
  await world.store.commit(
    [],
    [{ put: keys.offer(given.id), value: encode({ offer: given, latencyMs: 5 }) }],
  );
  const evaluate = async (waiting: number, fail?: FailpointName) => {
    const pods: Pod[] = roamers(waiting, { createdAt: world.clock.now() - 60_000 });
    const { deps } = world.process((name) => {
      if (name === fail) throw new Error(`killed at ${name}`);
    });
    const cluster = {
      view: async () => ({ pods, nodes: [] }),
      recordEvent: async () => undefined,
    } as unknown as Cluster;
    const { signal } = new AbortController();
    const outcome = await world.clock.run(
      evaluateScaling({ ...deps, cluster })({}, { trigger: 'test', id: 'test', signal }),
    );
    if (outcome.kind !== 'done') throw new Error(outcome.why);
    return outcome.answer as Evaluated;
  };
  await body(world, evaluate);
}

const onlySlice = async (world: World) => {
  const [record, ...others] = await world.process().deps.inventory.machines();
  expect(others).toEqual([]);
  if (!record) throw new Error('there is no slice');
  return record;
};

test('a slice is recorded with its offer and its price; more pods make it larger, and power-action is told', async () => {
  await withOffer(async (world, evaluate) => {
    const first = await evaluate(3);
    expect(first.powerOn).toMatchObject([{ price: expect.closeTo(0.3) }]);
    expect(first.offers).toMatchObject([{ offer: 'berlin.silver', verdict: 'power-on' }]);
    const made = await onlySlice(world);
    expect(made).toMatchObject({
      spec: {
        offer: 'berlin.silver',
        made: true,
        resources: { cpu: 3000 },
        providerID: `liqo://berlin/${made.spec.name}`,
      },
      status: { state: 'powering-on' },
    });

    const before = world.emitted.length;
    expect((await evaluate(5)).madeLarger).toMatchObject([{ machine: made.spec.name }]);
    const larger = await onlySlice(world);
    expect(larger.spec).toMatchObject({
      name: made.spec.name,
      resources: { cpu: 5000 },
      pricing: { hourlyRate: expect.closeTo(0.5) },
    });
    expect(larger.status).toEqual(made.status);
    expect(larger.history.at(-1)).toMatchObject({ event: 'resized', by: 'evaluate-scaling' });
    expect(world.emitted.slice(before).map(({ type }) => type)).toEqual(['dev.bamel.power.requested']);

    // It is counted on from then on; and an hour may not cost more.
    expect((await evaluate(5)).madeLarger).toBeUndefined();
    await evaluate(9);
    expect((await onlySlice(world)).spec.resources.cpu).toBe(6000);
  });
});

test.each(remoteFailpoints)(
  'killed at %s, once the size is written, nothing is asked for twice',
  async (name) => {
    await withOffer(async (world, evaluate) => {
      await evaluate(3);
      await expect(evaluate(5, name)).rejects.toThrow('killed at');
      expect((await onlySlice(world)).spec.resources.cpu).toBe(5000);
      world.clock.pass(60_000);
      expect((await evaluate(5)).madeLarger).toBeUndefined();
      expect((await onlySlice(world)).spec.resources.cpu).toBe(5000);
    });
  },
);
