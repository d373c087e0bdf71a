import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { Target } from '../../../apps/cluster-autoscaler/target.ts';
import { openStore } from '../../../shared/adapters/store/open-store.ts';
import { realClock } from '../../../shared/process/clock.ts';
import { decode } from '../../../shared/state/codec.ts';
import { createInventory } from '../../../shared/state/inventory.ts';
import { keys } from '../../../shared/state/keys.ts';
import type { AutoscaledWorld } from '../../../tools/worlds/cluster-autoscaler-world.ts';

/** What the Cluster Autoscaler writes into its ConfigMap at the end of each of its loops, as far as it is read. */
const Status = z.object({
  clusterWide: z.object({ health: z.object({ status: z.string(), lastProbeTime: z.string() }) }),
  nodeGroups: z
    .array(z.object({ name: z.string(), health: z.object({ cloudProviderTarget: z.number() }) }))
    .optional(),
});

export interface Loops {
  /** When each loop was, how the cluster was then, and the targets that it was told. */
  readonly seen: ReadonlyMap<string, { readonly health: string; readonly targets: readonly string[] }>;
  /** What did not add up, with the loop. */
  readonly wrong: readonly string[];
}

/** So often a size is read again before it counts as wrong: the watch of the store may be a moment behind. */
const mostReads = 40;

/** Follows the Cluster Autoscaler loop by loop: after each one, what it is told and what the store has agree. */
export function watchLoops(
  world: AutoscaledWorld,
  pools: readonly string[],
): Loops & { stop(): Promise<void> } {
  const seen = new Map<string, { health: string; targets: string[] }>();
  const wrong: string[] = [];
  let done = false;
  const look = async (): Promise<void> => {
    // Before its first loop has ended there is nothing to read.
    const text = await world.status().catch(() => '');
    const { data: status } = Status.safeParse(text === '' ? undefined : parse(text));
    const at = status?.clusterWide.health.lastProbeTime;
    if (!status || at === undefined || seen.has(at)) return;
    seen.set(at, {
      health: status.clusterWide.health.status,
      targets: (status.nodeGroups ?? []).map(({ name, health }) => `${name} ${health.cloudProviderTarget}`),
    });
    for (const pool of pools) {
      const why = await disagreement(world, pool);
      if (why) wrong.push(`loop ${seen.size}, at ${at}: pool ${pool}: ${why}`);
    }
  };
  const watching = (async () => {
    while (!done && !world.stopping.signal.aborted) {
      await look().catch((error: Error) => wrong.push(error.message));
      await sleep(100);
    }
  })();
  return {
    seen,
    wrong,
    async stop() {
      done = true;
      await watching;
    },
  };
}

async function disagreement({ caller, store }: AutoscaledWorld, pool: string): Promise<string | undefined> {
  let why = '';
  for (let reads = 0; reads < mostReads; reads += 1) {
    const told = await caller.size(pool);
    const stored = await storedSize(store, pool);
    if (told === stored) return undefined;
    why = `it is told ${told}, and the store has ${stored}`;
    await sleep(50);
  }
  return why;
}

/** Machines that come or serve and were not deleted, promises that nobody has begun, requests without a machine. */
async function storedSize(where: string, pool: string): Promise<number> {
  const store = await openStore(where, { readOnly: true });
  try {
    const inventory = createInventory(store, realClock);
    const entry = await store.get(keys.pool(pool, 'target'));
    const { assigned, leaving, missing } = entry
      ? Target.parse(decode(entry.key, entry.value))
      : { assigned: [], leaving: [], missing: [] };
    const left = new Set(leaving.map(({ machine }) => machine));
    const there = (await inventory.machines()).filter(
      ({ spec, status }) =>
        spec.pool === pool &&
        ['powering-on', 'joining', 'ready'].includes(status.state) &&
        !left.has(spec.name),
    );
    const begun = await Promise.all(assigned.map(({ operation }) => inventory.operation(operation)));
    return there.length + begun.filter((one) => one === undefined).length + missing.length;
  } finally {
    await store.close();
  }
}
