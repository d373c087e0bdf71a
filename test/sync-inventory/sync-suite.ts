import type { KubeConfig } from '@kubernetes/client-node';
import { keys } from '../../shared/state/keys.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { freshNamespace } from '../../tools/worlds/cluster-client.ts';
import { leaseOf, powerOn, recordOf, settings } from '../adapters/inventory-harness.ts';
import { install } from './definitions.ts';
import { deletionTests } from './sync-deletions.ts';
import { machineSpec, type SyncWorld, startSyncWorld, sweepResources } from './sync-world.ts';

export interface SyncHarness {
  readonly kubeConfig: KubeConfig;
  close(): Promise<void>;
}

/** Custom resources on an API server ↔ the store. */
export function syncContract(name: string, start: () => Promise<SyncHarness>): void {
  describe(`sync-inventory on ${name}`, () => {
    let harness: SyncHarness;
    let namespace = '';
    let world: SyncWorld;
    beforeAll(async () => {
      harness = await start();
      await install(harness.kubeConfig);
    }, 600_000);
    afterAll(() => harness?.close());
    beforeEach(async () => {
      namespace = await freshNamespace(harness.kubeConfig);
      world = await startSyncWorld(harness.kubeConfig, namespace);
    });
    afterEach(async () => {
      await world.close();
      await sweepResources(harness.kubeConfig);
    });

    const names = async () => (await world.inventory.machines()).map(({ spec }) => spec.name);
    const applyAll = async () => {
      await world.apply('BareMetalAutoscaler', 'home', { protect: ['name=nas'] });
      await world.apply('NodePool', 'closet', { limits: { maxNodes: 2 } });
      for (const one of ['m-1', 'm-2']) await world.apply('BareMetalNode', one, machineSpec());
      await world.synced(async () => expect(await names()).toEqual(['m-1', 'm-2']));
    };

    test('resources come into the store, and what is known goes back to them', async () => {
      await applyAll();
      expect((await world.inventory.pools()).map(({ name, limits }) => [name, limits.maxNodes])).toEqual([
        ['closet', 2],
      ]);
      expect((await world.inventory.settings()).protect).toEqual(['name=nas']);
      const at = Date.UTC(2026, 0, 1);
      await world.observed('m-1', {
        state: 'ready',
        stateSince: at,
        powerState: 'on',
        bmcReachable: true,
        kubernetesNode: 'm-1',
        nodeReady: true,
        learnedBootMs: 94_200,
        lastPowerAction: 'on',
        powerActionTime: at,
      });
      await world.observed('m-2', { powerState: 'off', bmcReachable: true });
      await world.synced(async () => {
        expect((await world.get('BareMetalNode', 'm-1'))?.status).toMatchObject({
          state: 'ready',
          stateSince: '2026-01-01T00:00:00Z',
          powerState: 'on',
          kubernetesNode: 'm-1',
          nodeReady: true,
          bmcReachable: true,
          learnedBootTime: '1m34s',
          lastPowerAction: 'on',
          powerActionTime: '2026-01-01T00:00:00Z',
          attempts: 0,
          autoscaler: `${namespace}/home`,
          observedGeneration: 1,
        });
        expect((await world.get('NodePool', 'closet'))?.status).toMatchObject({
          machines: 2,
          readyNodes: 1,
          pendingNodes: 0,
          desiredNodes: 1,
          activeResources: { cpu: '4', memory: '16Gi' },
          availableResources: { cpu: '4', memory: '16Gi' },
          health: 'healthy',
          scalingNodes: [],
        });
        expect((await world.get('BareMetalAutoscaler', 'home'))?.status).toMatchObject({
          machines: 2,
          readyNodes: 1,
        });
      });
      expect(await world.condition('BareMetalNode', 'm-1', 'Ready')).toMatchObject({ status: 'True' });
      expect(await world.condition('BareMetalNode', 'm-2', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'Off',
      });
      expect(await world.condition('NodePool', 'closet', 'Accepted')).toMatchObject({ status: 'True' });
    });

    test('a round without news writes nothing, and a condition keeps its time until its status changes', async () => {
      await applyAll();
      await eventually(async () =>
        expect(await world.sync()).toMatchObject({ answer: { changed: 0, written: 0 } }),
      );
      const before = await world.get('BareMetalNode', 'm-1');
      const { revision } = await world.store.list(keys.nodes);
      world.later(60_000);
      expect(await world.sync()).toMatchObject({ answer: { changed: 0, written: 0 } });
      expect(await world.get('BareMetalNode', 'm-1')).toEqual(before);
      expect((await world.store.list(keys.nodes)).entries.every((entry) => entry.revision <= revision)).toBe(
        true,
      );

      const ready = await world.condition('BareMetalNode', 'm-1', 'Ready');
      const accepted = await world.condition('BareMetalNode', 'm-1', 'Accepted');
      await world.observed('m-1', {
        state: 'error',
        lastError: { code: 'never-joined', message: 'no node', at: 0 },
      });
      await world.synced(async () =>
        expect(await world.condition('BareMetalNode', 'm-1', 'Ready')).toMatchObject({
          status: 'False',
          reason: 'Error',
          message: expect.stringContaining('no node'),
          lastTransitionTime: ready?.lastTransitionTime,
        }),
      );
      expect(await world.condition('BareMetalNode', 'm-1', 'Accepted')).toEqual(accepted);
      await world.observed('m-1', {
        state: 'ready',
        nodeReady: true,
        kubernetesNode: 'm-1',
        lastError: undefined,
      });
      await world.synced(async () =>
        expect(await world.condition('BareMetalNode', 'm-1', 'Ready')).toMatchObject({ status: 'True' }),
      );
      const since = Date.parse(
        (await world.condition('BareMetalNode', 'm-1', 'Ready'))?.lastTransitionTime ?? '',
      );
      expect(since - Date.parse(ready?.lastTransitionTime ?? '')).toBeGreaterThanOrEqual(60_000);
      await world.synced(async () =>
        expect((await world.get('BareMetalNode', 'm-1'))?.status?.lastError).toBeUndefined(),
      );
    });

    test('fault 32: a resource edited during an operation → the operation keeps its own copy', async () => {
      await applyAll();
      const lease = await leaseOf(world.store);
      const before = await recordOf(world.inventory);
      await applyEvent(world.inventory, before, { ...powerOn(before), lease, settings, now: Date.now() });
      await world.apply(
        'BareMetalNode',
        'm-1',
        machineSpec('closet', { mgmtAddress: 'https://other.example' }),
      );
      await world.synced(async () =>
        expect((await recordOf(world.inventory)).spec.mgmtAddress).toBe('https://other.example'),
      );
      expect((await world.inventory.operation('op-1'))?.operation.spec.mgmtAddress).toBe(
        'https://bmc.example',
      );
      await world.synced(async () =>
        expect((await world.get('NodePool', 'closet'))?.status?.scalingNodes).toMatchObject([
          { nodeName: 'm-1', action: 'power-on', state: 'powering-on', reason: 'needed' },
        ]),
      );
    });

    test('what only our own schema sees is told in a condition, and the last good spec stays', async () => {
      await applyAll();
      await world.apply(
        'BareMetalNode',
        'm-1',
        machineSpec('closet', { resources: { cpu: 'lots', memory: '1Gi' } }),
      );
      await world.synced(async () =>
        expect(await world.condition('BareMetalNode', 'm-1', 'Accepted')).toMatchObject({
          status: 'False',
          reason: 'Invalid',
          message: expect.stringContaining('spec.resources.cpu'),
        }),
      );
      expect((await recordOf(world.inventory)).spec.resources.cpu).toBe(4000);
      await world.apply(
        'BareMetalNode',
        'm-1',
        machineSpec('closet', { resources: { cpu: 8, memory: '1Gi' } }),
      );
      await world.synced(async () => expect((await recordOf(world.inventory)).spec.resources.cpu).toBe(8000));
      expect(await world.condition('BareMetalNode', 'm-1', 'Accepted')).toMatchObject({
        status: 'True',
        observedGeneration: 3,
      });
    });

    test('a machine of a pool that is not there waits for it', async () => {
      await world.apply('BareMetalAutoscaler', 'home', {});
      await world.apply('BareMetalNode', 'm-1', machineSpec('attic'));
      await world.synced(async () =>
        expect(await world.condition('BareMetalNode', 'm-1', 'Accepted')).toMatchObject({
          status: 'False',
          reason: 'PoolMissing',
        }),
      );
      expect(await names()).toEqual([]);
      await world.apply('NodePool', 'attic', {});
      await world.synced(async () => expect(await names()).toEqual(['m-1']));
    });

    test('selectors bind machines by label; one that two autoscalers select is left alone, and all three say so', async () => {
      await world.apply('NodePool', 'closet', {});
      await world.apply('BareMetalNode', 'm-1', machineSpec(), { labels: { site: 'home' } });
      await world.apply('BareMetalNode', 'm-2', machineSpec(), { labels: { site: 'lab' } });
      const select = (...sites: string[]) => ({
        selectors: { machines: { matchExpressions: [{ key: 'site', operator: 'In', values: sites }] } },
      });
      await world.apply('BareMetalAutoscaler', 'home', select('home'));
      const maintenance = async (name: string) =>
        (await world.inventory.machine(name))?.spec.maintenance ?? false;
      await world.synced(async () =>
        expect([await maintenance('m-1'), await maintenance('m-2')]).toEqual([false, true]),
      );
      expect(await world.condition('BareMetalNode', 'm-2', 'Operated')).toMatchObject({
        status: 'False',
        reason: 'NoAutoscaler',
      });

      await world.apply('BareMetalAutoscaler', 'greedy', select('home', 'lab'));
      await world.synced(async () =>
        expect([await maintenance('m-1'), await maintenance('m-2')]).toEqual([true, false]),
      );
      await world.synced(async () => {
        const operated = await world.condition('BareMetalNode', 'm-1', 'Operated');
        expect(operated).toMatchObject({ status: 'False', reason: 'ClaimedTwice' });
        expect(operated?.message).toMatch(/greedy.* and .*home|home.* and .*greedy/);
        for (const one of ['home', 'greedy'])
          expect(await world.condition('BareMetalAutoscaler', one, 'Conflicting')).toMatchObject({
            status: 'True',
            message: expect.stringContaining('m-1'),
          });
      });
      await world.apply('BareMetalAutoscaler', 'greedy', select('lab'));
      await world.synced(async () =>
        expect([await maintenance('m-1'), await maintenance('m-2')]).toEqual([false, false]),
      );
      await world.synced(async () =>
        expect(await world.condition('BareMetalAutoscaler', 'home', 'Conflicting')).toMatchObject({
          status: 'False',
        }),
      );
      const inUse = await world.condition('BareMetalAutoscaler', 'greedy', 'Accepted');
      expect(inUse).toMatchObject({ status: 'False', reason: 'NotInUse' });
    });

    test('a name that another namespace has already is refused, and free once that one is gone', async () => {
      await applyAll();
      const other = await freshNamespace(harness.kubeConfig);
      await world.apply('BareMetalNode', 'm-1', machineSpec(), {}, other);
      await world.synced(async () =>
        expect(await world.condition('BareMetalNode', 'm-1', 'Accepted', other)).toMatchObject({
          status: 'False',
          reason: 'NameTaken',
          message: expect.stringContaining(`${namespace}/m-1`),
        }),
      );
      expect((await recordOf(world.inventory)).source).toMatchObject({ namespace });
      await world.delete('BareMetalNode', 'm-1');
      await world.synced(async () =>
        expect((await recordOf(world.inventory)).source).toMatchObject({ namespace: other }),
      );
    });

    test('more than the API server lists at once', async () => {
      await world.apply('BareMetalAutoscaler', 'home', {});
      await world.apply('NodePool', 'closet', {});
      const many = Array.from({ length: 510 }, (_, index) => `m-${index}`);
      for (let from = 0; from < many.length; from += 30)
        await Promise.all(
          many.slice(from, from + 30).map((one) => world.apply('BareMetalNode', one, machineSpec())),
        );
      await world.synced(async () => expect(await names()).toHaveLength(many.length));
    });

    test('what vanishes without a deletion stays in the store', async () => {
      await applyAll();
      await sweepResources(harness.kubeConfig);
      await world.synced(async () =>
        expect(await world.sync()).toMatchObject({ answer: { resources: { machines: 0 } } }),
      );
      expect(await names()).toEqual(['m-1', 'm-2']);
      expect(await world.inventory.pools()).toHaveLength(1);
    });

    deletionTests(() => world, applyAll);
  });
}
