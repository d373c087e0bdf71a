import { keys } from '../../shared/state/keys.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { leaseOf, powerOn, recordOf, settings } from '../adapters/inventory-harness.ts';
import { type Kind, machineSpec, type SyncWorld } from './sync-world.ts';

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

const everything: readonly (readonly [Kind, string])[] = [
  ['BareMetalAutoscaler', 'home'],
  ['NodePool', 'closet'],
  ['BareMetalNode', 'm-1'],
  ['BareMetalNode', 'm-2'],
];

/** What becomes of machines when their resources are deleted. */
export function deletionTests(getWorld: () => SyncWorld, applyAll: () => Promise<void>): void {
  const keysLeft = async (prefix: string) =>
    (await getWorld().store.list(prefix)).entries.map(({ key }) => key);
  const gone = (kind: Kind, name: string) =>
    getWorld().synced(async () => expect(await getWorld().get(kind, name)).toBeUndefined());

  test('a machine under operation is finished first, and says so', async () => {
    const world = getWorld();
    await applyAll();
    const lease = await leaseOf(world.store);
    const record = await recordOf(world.inventory);
    await applyEvent(world.inventory, record, { ...powerOn(record), lease, settings, now: Date.now() });
    await world.delete('BareMetalNode', 'm-1');
    await world.synced(async () =>
      expect(await world.condition('BareMetalNode', 'm-1', 'Deleting')).toMatchObject({
        status: 'True',
        reason: 'OperationUnderWay',
        message: expect.stringContaining('op-1'),
      }),
    );
    expect(await recordOf(world.inventory)).toMatchObject({ status: { operation: 'op-1' } });
    const event = { type: 'failed', code: 'power-on-failed', message: 'no' } as const;
    await applyEvent(world.inventory, await recordOf(world.inventory), {
      event,
      by: 'test',
      lease,
      settings,
      now: Date.now(),
    });
    await gone('BareMetalNode', 'm-1');
    expect(await keysLeft(`${keys.nodes}m-1/`)).toEqual([]);
  });

  test('a pool with machines refuses and names them; without them it goes', async () => {
    const world = getWorld();
    await applyAll();
    await world.delete('NodePool', 'closet');
    await world.synced(async () =>
      expect(await world.condition('NodePool', 'closet', 'Deleting')).toMatchObject({
        reason: 'HasMembers',
        message: expect.stringMatching(/m-1, m-2.*bamel\.dev\/cascade=true/),
      }),
    );
    await world.delete('BareMetalNode', 'm-1');
    await world.apply('NodePool', 'attic', {});
    await world.apply('BareMetalNode', 'm-2', machineSpec('attic'));
    await gone('NodePool', 'closet');
    expect((await world.inventory.pools()).map(({ name }) => name)).toEqual(['attic']);
    expect((await world.inventory.machines()).map(({ spec }) => spec.name)).toEqual(['m-2']);
  });

  test('a pool that says so takes its machines with it', async () => {
    const world = getWorld();
    await applyAll();
    await world.apply('NodePool', 'closet', {}, { annotations: { 'bamel.dev/cascade': 'true' } });
    await world.delete('NodePool', 'closet');
    for (const name of ['m-1', 'm-2']) await gone('BareMetalNode', name);
    await gone('NodePool', 'closet');
    expect(await keysLeft(keys.nodes)).toEqual([]);
    expect(await keysLeft(keys.pools)).toEqual([]);
  });

  test('deletionPolicy leave: the machines stay as they are, untouched, and that is told', async () => {
    const world = getWorld();
    await applyAll();
    await world.observed('m-1', { state: 'ready', powerState: 'on', kubernetesNode: 'm-1', nodeReady: true });
    await world.delete('BareMetalAutoscaler', 'home');
    await gone('BareMetalAutoscaler', 'home');
    expect((await world.told()).join()).toMatch(/LeftAsTheyAre: .*m-1 \(power is on\)/);
    await world.synced(async () => expect((await recordOf(world.inventory)).spec.maintenance).toBe(true));
    expect((await recordOf(world.inventory)).status).toMatchObject({ state: 'ready', powerState: 'on' });
    expect(world.emitted).toEqual([]);
  });

  test('deletionPolicy power-off: drained and powered off first; what cannot be explains itself', async () => {
    const world = getWorld();
    await applyAll();
    await world.apply('BareMetalAutoscaler', 'home', { deletionPolicy: 'power-off', protect: ['name=m-3'] });
    await world.apply('BareMetalNode', 'm-3', machineSpec());
    await world.synced(async () => expect(await recordOf(world.inventory, 'm-3')).toBeDefined());
    const on = { state: 'ready', powerState: 'on', nodeReady: true } as const;
    await world.observed('m-1', { ...on, kubernetesNode: 'm-1' });
    await world.observed('m-2', {
      ...on,
      state: 'error',
      lastError: { code: 'never-joined', message: 'no node', at: 0 },
    });
    await world.observed('m-3', { ...on, kubernetesNode: 'm-3' });
    await world.delete('BareMetalAutoscaler', 'home');
    await world.synced(async () =>
      expect(await world.condition('BareMetalAutoscaler', 'home', 'Deleting')).toMatchObject({
        reason: 'PoweringOff',
        message: expect.stringMatching(
          /m-1 \(draining.*m-2 \(quarantined \(no node\): .*deletionPolicy to leave/,
        ),
      }),
    );
    expect(world.emitted).toEqual(['dev.bamel.drain.requested m-1']);
    expect((await world.inventory.settings()).dryRun).toBe(true);
    const { operation } = (await recordOf(world.inventory)).status;
    expect((await world.inventory.operation(operation ?? ''))?.operation).toMatchObject({ goal: 'off' });

    // Its own resource deleted as well, m-2 waits for the same.
    await world.delete('BareMetalNode', 'm-2');
    await world.synced(async () =>
      expect(await world.condition('BareMetalNode', 'm-2', 'Deleting')).toMatchObject({
        reason: 'PoweringOff',
      }),
    );
    await world.observed('m-1', {
      state: 'off',
      powerState: 'off',
      operation: undefined,
      nodeReady: undefined,
    });
    await world.observed('m-2', { powerState: 'off' });
    await gone('BareMetalAutoscaler', 'home');
    await gone('BareMetalNode', 'm-2');
    expect((await world.told()).join()).toMatch(/LeftAsTheyAre: .*m-3 \(protected by name=m-3\)/);
    expect((await recordOf(world.inventory, 'm-3')).status.state).toBe('ready');
  });

  test.each(
    permutations(everything).map((order) => [order.map(([, name]) => name).join(', '), order] as const),
  )(
    'deleted in the order %s: no finalizer is stuck, and the machine that is on is not forgotten silently',
    async (_, order) => {
      const world = getWorld();
      await applyAll();
      await world.observed('m-1', {
        state: 'ready',
        powerState: 'on',
        kubernetesNode: 'm-1',
        nodeReady: true,
      });
      await world.observed('m-2', { powerState: 'off' });
      for (const [kind, name] of order) {
        await world.delete(kind, name);
        await world.sync();
      }
      for (const [kind, name] of order) await gone(kind, name);
      expect(await keysLeft(keys.nodes)).toEqual([]);
      expect(await keysLeft(keys.pools)).toEqual([]);
      expect((await world.told()).join()).toMatch(/LeftOn: m-1 is left on/);
    },
  );
}
