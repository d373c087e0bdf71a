import { z } from 'zod';
import { fromQuantities } from '../../shared/core/cluster/resources.ts';
import { hourlyPrice, type Price } from '../../shared/core/remote/offer.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { pods } from '../../simulator/lab/api/resource-types.ts';
import type { Lab, LabOptions } from '../../simulator/lab/lab.ts';
import { type Door, openDoor } from '../../simulator/lab/liqo/door.ts';
import { resourceSlices, virtualNodes } from '../../simulator/lab/liqo/types.ts';
import type { Liqo } from '../../simulator/lab/liqo.ts';
import { eventually } from '../../tools/support/eventually.ts';
import type { HostProcess } from '../../tools/support/host-process.ts';
import { startWorld, type World } from '../../tools/worlds/story.ts';

/** Two neighbours: one lends little for little, the other more for more. */
const lenders: Readonly<Record<string, { price: Price; resources: { cpu: number; memory: string } }>> = {
  cheap: { price: { cpu: 0.01 }, resources: { cpu: 8, memory: '32Gi' } },
  dear: { price: { cpu: 0.03 }, resources: { cpu: 16, memory: '64Gi' } },
};

/** What Liqo's webhook gives the pods of a namespace that is offloaded. */
export const lentToo = {
  tolerations: [{ key: 'virtual-node.liqo.io/not-allowed', operator: 'Exists', effect: 'NoExecute' }],
};

export interface RemoteWorld extends World {
  readonly liqo: Liqo;
  readonly doors: ReadonlyMap<string, Door>;
  /** Per hour: the most that all slices there ever were at once have cost so far. */
  dearest(): number;
  /** Slices as `provider cores`, those on their way out among them. */
  slices(): string[];
  /** Nothing of what was lent is left on either side. */
  nothingLeft(): void;
}

export interface RemoteOptions {
  readonly namespace: string;
  readonly machines?: LabOptions['machines'];
  readonly pool?: Partial<NonNullable<ConfigInput['pools']>[number]>;
  readonly timings?: Record<string, string>;
}

/** A rack of ours, if any, and two neighbours that lend; their discovery answers, and Liqo brings their nodes. */
export async function startRemoteWorld(options: RemoteOptions): Promise<RemoteWorld> {
  const doors = new Map<string, Door>();
  const configOf = async ({ liqo }: Lab): Promise<Partial<ConfigInput>> => {
    for (const [id, offer] of Object.entries(lenders)) {
      if (!liqo) throw new Error('this lab has no Liqo');
      const door = await openDoor(liqo.provider(id));
      door.publish([{ name: 'spare', ...offer, price: { ...offer.price } as Record<string, number> }]);
      doors.set(id, door);
    }
    const all = [...doors];
    return {
      autoscaler: {
        timings: { ...quick, ...options.timings },
        scaleDown: { weighBoot: false },
        cooldowns: { afterFailure: '0s' },
        remote: {
          trust: all.map(([clusterID, { publicKey }]) => ({ clusterID, publicKey })),
          sources: all.map(([, { endpoint: url }]) => ({ url })),
          refreshEvery: '1s',
        },
      },
      pools: [
        { name: 'rack', scaleDown: { unneededFor: '1s' } },
        {
          name: 'lent',
          template: { provider: 'liqo', offers: {}, maxSize: { cpu: 16, memory: '64Gi' } },
          scaleDown: { unneededFor: '1s', drainTimeout: '60s' },
          provisionTimeout: '90s',
          ...options.pool,
        },
      ],
    };
  };
  const world = await startWorld({
    namespace: options.namespace,
    machines: options.machines ?? [],
    liqo: { providers: { cheap: undefined, dear: undefined } },
    config: configOf,
  });
  const { liqo } = world.lab;
  if (!liqo) throw new Error('this lab has no Liqo');
  const costs = watchCosts(liqo);
  return {
    ...world,
    liqo,
    doors,
    dearest: costs.dearest,
    slices: () => slicesOf(liqo).map(({ provider, cores }) => `${provider} ${cores}`),
    nothingLeft() {
      expect(slicesOf(liqo)).toEqual([]);
      expect([...liqo.store.list(virtualNodes)]).toEqual([]);
      for (const id of doors.keys()) expect([...liqo.provider(id).slices.keys()]).toEqual([]);
    },
    async close() {
      costs.stop();
      await world.close();
      await Promise.all([...doors.values()].map((door) => door.close()));
    },
  };
}

const quick = {
  bmcTimeout: '2s',
  readEvery: '200ms',
  sweepEvery: '1s',
  commandEvery: '200ms',
  resendAfter: '3s',
  softOffPatience: '6s',
  powerOnTimeout: '20s',
  powerOffTimeout: '30s',
  shortestJoinTimeout: '20s',
  retryAfter: '3s',
  retryAfterMax: '10s',
  evictEvery: '300ms',
};

function slicesOf({ store }: Liqo) {
  return [...store.list(resourceSlices)]
    .map(({ spec }) => {
      const provider = spec.providerClusterID ?? '';
      const asked = fromQuantities(spec.resources ?? {});
      const price = hourlyPrice(lenders[provider]?.price ?? {}, asked);
      return { provider, cores: (asked.cpu ?? 0) / 1000, price };
    })
    .sort((a, b) => (a.provider < b.provider ? -1 : 1));
}

/** Adds up what slices cost after every change of any, so that no moment is missed. */
function watchCosts(liqo: Liqo): { dearest(): number; stop(): void } {
  let most = 0;
  const stop = liqo.store.subscribe(({ resource }) => {
    if (resource !== resourceSlices) return;
    most = Math.max(
      most,
      slicesOf(liqo).reduce((sum, { price }) => sum + price, 0),
    );
  });
  return { dearest: () => most, stop };
}

const Machines = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      offer: z.string().optional(),
      state: z.string(),
      power: z.object({ state: z.string() }),
      error: z.object({ message: z.string() }).optional(),
      node: z.object({ problem: z.string().optional() }),
    }),
  ),
});

/** What is on the books of a host. */
export async function machinesOf({ url }: HostProcess) {
  const response = await fetch(`${url}/api/machines`, { signal: AbortSignal.timeout(20_000) });
  return Machines.parse(await response.json()).items;
}

/** Until the offers of both neighbours are known. */
export const offersKnown = ({ url }: HostProcess): Promise<void> =>
  eventually(async () => {
    const response = await fetch(`${url}/api/offers`, { signal: AbortSignal.timeout(20_000) });
    const { items } = Offers.parse(await response.json());
    expect(items.map(({ id }) => id).sort()).toEqual(['cheap.spare', 'dear.spare']);
  }, 60_000);

const Offers = z.object({ items: z.array(z.object({ id: z.string() })) });

/** Every pod that is wanted is there: it runs, or waits and says for what. */
export async function noPodForgotten(
  { liqo, people }: RemoteWorld,
  namespace: string,
  wanted: number,
): Promise<void> {
  await eventually(() => {
    const all = [...liqo.store.list(pods, namespace)].filter(({ metadata }) => !metadata.deletionTimestamp);
    expect(all).toHaveLength(wanted);
    for (const { status } of all) {
      const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled');
      if (status.phase !== 'Running')
        expect([scheduled?.status, scheduled?.reason]).toEqual(['False', 'Unschedulable']);
    }
  }, 60_000);
  expect(await people.nodes()).toContain('control-1');
}
