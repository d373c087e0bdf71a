import type { PowerDriver } from '../../../shared/ports/power.ts';
import { nodes } from '../../../simulator/lab/api/resource-types.ts';
import type { Judge } from '../../../simulator/lab/liqo/provider.ts';
import { resourceSlices } from '../../../simulator/lab/liqo/types.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { deps, failing, patient } from '../harness.ts';
import { type LiqoWorld, provider, startLiqoWorld, tenant } from './liqo-world.ts';

let world: LiqoWorld;
afterEach(() => world.close());

const begin = async (judge?: Judge): Promise<PowerDriver> => {
  world = await startLiqoWorld(judge);
  return world.driver();
};

describe('size', () => {
  test('a partial grant is what it has', async () => {
    const driver = await begin((asked) => ({ granted: { ...asked, cpu: '1' } }));
    await world.on(driver);
    expect(await driver.read(patient())).toMatchObject({
      power: 'on',
      resources: { ...world.spec.resources, cpu: 1_000 },
    });
    // What was granted is all that is wanted by now: nothing is asked for anew.
    const content = await world.driver({ resources: { ...world.spec.resources, cpu: 1_000 } });
    expect((await content.read(patient())).outgrown).toBeUndefined();
    await content.set('on', patient(), 'op-2');
    expect(world.writes.filter((write) => write.startsWith('PATCH'))).toEqual([]);
  });

  test('another size is asked for with the same slice, and is no partial grant until it is answered', async () => {
    const driver = await begin();
    await world.on(driver);
    const larger = { ...world.spec.resources, cpu: 6_000 };
    const grown = await world.driver({ resources: larger });
    expect(await grown.read(patient())).toMatchObject({ power: 'on', outgrown: true });
    await grown.set('on', patient(), 'op-2');
    expect(await grown.read(patient())).toEqual({ power: 'on', exists: true, resources: undefined });
    await eventually(() =>
      expect(world.store.find(nodes, undefined, 'lent-1').status.capacity?.cpu).toBe('6000m'),
    );
    const later = await world.driver(
      { resources: larger },
      { ...deps.clock, now: () => Date.now() + 60_000 },
    );
    expect(await later.read(patient())).toMatchObject({ power: 'on', resources: larger });
    expect(world.writes.filter((write) => /^(POST|DELETE).*resourceslices/.test(write))).toHaveLength(1);
  });
});

test('labels that the provider changed are told', async () => {
  await begin();
  const driver = await world.driver({ labels: { 'example.com/price': '1', 'example.com/zone': 'a' } });
  await world.on(driver);
  // Or it would write its own.
  world.liqo.stop();
  const slice = world.store.find(resourceSlices, tenant, 'lent-1');
  const nodeLabels = { 'example.com/price': '3', 'example.com/zone': 'a', other: 'x' };
  world.store.modify(
    resourceSlices,
    slice,
    (now) => ({ ...now, status: { ...now.status, nodeLabels } }),
    'status',
  );
  expect(await driver.sense?.(patient())).toEqual({
    health: 'warning',
    problems: [`provider ${provider} says example.com/price=3 now, not 1`],
  });
});

test("somebody else's slice of that name is neither used nor deleted", async () => {
  const driver = await begin();
  world.liqo.peer(provider);
  world.store.create(resourceSlices, {
    metadata: { name: 'lent-1', namespace: tenant },
    spec: { class: 'default' },
  });
  for (const call of [
    () => driver.read(patient()),
    () => driver.set('on', patient(), 'op'),
    () => driver.set('soft-off', patient(), 'op'),
  ])
    expect(await failing(call)).toMatchObject({ code: 'wrong-machine', final: true });
  expect(world.there()).toEqual(['slice']);
});

test('strays are given back when they have no node, and only named when they have one', async () => {
  const driver = await begin((asked, { metadata }) =>
    metadata.name === 'lent-1' ? { granted: { ...asked } } : undefined,
  );
  await world.on(driver);
  await Promise.all(
    ['lent-2', 'lent-3'].map(async (name) => (await world.driver({ name })).set('on', patient(), 'op')),
  );
  const strays = await world.strays((machine) => machine === 'lent-3');
  expect(strays).toEqual({ released: ['lent-2'], running: ['lent-1'] });
  await eventually(() => expect(world.there('lent-2')).toEqual([]));
  expect(world.there('lent-3')).toEqual(['slice']);
  expect(world.writes.filter((write) => write.startsWith('DELETE'))).toEqual([
    expect.stringMatching(/resourceslices\/lent-2$/),
  ]);
});
