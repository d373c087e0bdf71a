import { join } from 'node:path';
import type { LabOptions } from '../../simulator/lab/lab.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { readInventory, storyConfig, type World } from '../../tools/worlds/story.ts';

/** One machine, whose pool restarts what hangs. */
export const recoveryWorld = {
  namespace: 'recovery',
  machines: [
    { name: 'hangs-1', cpu: 4, memory: '16Gi', bootSeconds: 40, shutdownSeconds: 10, pool: 'rack' },
  ] satisfies LabOptions['machines'],
  config: {
    pools: [
      {
        ...storyConfig.pools?.[0],
        name: 'rack',
        scaleDown: { unneededFor: '10m' },
        recovery: { policy: 'power-cycle' as const, notReadyFor: '1s' },
      },
    ],
  },
};

/** Its pod runs → its kubelet falls silent → it is powered off, verified → on again → a new boot joins → its pod runs. */
export async function playRecovery(world: World): Promise<void> {
  const { lab, people } = world;
  const store = `embedded:${join(world.files.folder, 'store.db')}`;
  try {
    const host = await world.startHost(store);
    // Kubernetes gives a silent node five minutes before it starts its pods elsewhere, unless they say otherwise.
    const tolerations = ['unreachable', 'not-ready'].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 2,
    }));
    await people.deploy('web', 1, { cpu: '3', memory: '1Gi' }, { tolerations });
    await eventually(async () => expect(await people.running('web')).toEqual(['hangs-1']), 90_000);
    const node = async () => (await people.core.readNode({ name: 'hangs-1' })).status;
    const ready = async () => (await node())?.conditions?.find(({ type }) => type === 'Ready')?.status;
    const before = (await node())?.nodeInfo?.bootID;

    lab.hang('hangs-1');
    await eventually(() => expect(world.commands('hangs-1').length).toBeGreaterThan(1), 120_000);
    await eventually(async () => {
      expect(await people.running('web')).toEqual(['hangs-1']);
      expect(await ready()).toBe('True');
      expect((await node())?.nodeInfo?.bootID).not.toBe(before);
      expect(world.commands('hangs-1').filter((verb) => verb === 'On')).toHaveLength(2);
    }, 120_000);
    expect(world.commands('hangs-1')).toEqual(['On', expect.stringMatching(/Off|Shutdown/), 'On']);
    await eventually(
      () => expect(host.lines.filter((line) => line.includes('"msg":"machine joined"'))).toHaveLength(2),
      60_000,
    );
    expect(await host.stop()).toBe('0');

    await readInventory(store, async (inventory) => {
      const record = await inventory.machine('hangs-1');
      expect(record?.status).toMatchObject({ state: 'ready', nodeReady: true, attempts: 0 });
      expect(record?.history.map(({ event }) => event)).toEqual([
        'power-on-requested',
        'powered-on',
        'joined',
        'power-off-requested',
        'powered-off',
        'power-on-requested',
        'powered-on',
        'joined',
      ]);
      const { entries } = await inventory.store.list('/baremetal/operations/');
      expect(entries.map(({ value }) => JSON.parse(value).end)).toEqual(['done', 'done', 'done']);
    });
  } finally {
    await world.close();
  }
}
