import { openApi } from '../apps/api/api.ts';
import { consoleRoutes } from '../apps/console/route.ts';
import { openStore } from '../shared/adapters/store/open-store.ts';
import type { ClusterView } from '../shared/core/cluster/cluster.ts';
import { states } from '../shared/core/machine/lifecycle.ts';
import { newStatus } from '../shared/core/machine/machine.ts';
import type { Cluster } from '../shared/ports/cluster.ts';
import { realClock } from '../shared/process/clock.ts';
import { createLog } from '../shared/process/log.ts';
import { createMetrics } from '../shared/process/metrics.ts';
import { serve } from '../shared/server/serve.ts';
import { encode } from '../shared/state/codec.ts';
import { createInventory } from '../shared/state/inventory.ts';
import { loadInventory } from '../shared/state/inventory-load.ts';
import { keys } from '../shared/state/keys.ts';

const nothing: ClusterView = {
  pods: [],
  nodes: [],
  daemonSets: [],
  namespaces: [],
  volumes: [],
  claims: [],
  storageClasses: [],
  budgets: [],
} as unknown as ClusterView;

export interface ConsoleHost {
  readonly url: string;
  /** Some machines, the next ones every time, are in another state now. */
  change(machines: number): Promise<void>;
  close(): Promise<void>;
}

/** The console and its API over a store that is full. Nothing else runs on it. */
export async function startConsoleHost(machines: number, eventsEach: number): Promise<ConsoleHost> {
  const store = await openStore('embedded:');
  const names = Array.from({ length: machines }, (_, index) => `node-${index + 1}`);
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    pools: Array.from({ length: 5 }, (_, index) => ({ name: `pool-${index}` })),
    machines: names.map((name, index) => ({
      name,
      pool: `pool-${index % 5}`,
      rack: `rack-${Math.floor(index / 40) + 1}`,
      zone: `hall-${Math.floor(index / 200) + 1}`,
      powerInterface: 'redfish' as const,
      mgmtAddress: `https://10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      resources: { cpu: 32, memory: '128Gi' },
      watts: { idle: 80, max: 300 },
    })),
  });
  const stateAt = (turn: number) => states[turn % states.length] ?? 'off';
  const write = async (index: number, turn: number): Promise<void> => {
    const name = names[index % machines] ?? '';
    const now = Date.now();
    const state = stateAt(turn);
    const entries = Array.from({ length: eventsEach }, (_, back) => ({
      at: now - (eventsEach - back) * 60_000,
      by: 'power-action',
      event: 'powered-on',
      from: stateAt(turn + back),
      to: stateAt(turn + back + 1),
      why: `holds ${back} of 12 waiting pods; its BMC said so in consecutive reads`,
    }));
    await store.commit(
      [],
      [
        {
          put: keys.node(name, 'status'),
          value: encode({
            ...newStatus(now),
            state,
            powerState: state === 'off' ? 'off' : 'on',
            learnedBootMs: 90_000,
          }),
        },
        { put: keys.node(name, 'events'), value: encode({ entries }) },
      ],
    );
  };
  for (const index of names.keys()) await write(index, index);
  const log = createLog({ level: 'warn', format: 'json' });
  const cluster = { view: async () => nothing } as unknown as Cluster;
  const api = await openApi({ inventory: createInventory(store, realClock), cluster, clock: realClock });
  const served = await serve([], {
    host: '127.0.0.1',
    port: 0,
    log,
    metrics: createMetrics(),
    routes: [...consoleRoutes(log), ...api.routes],
  });
  let at = 0;
  return {
    url: served.url,
    async change(count) {
      for (let done = 0; done < count; done += 1, at += 1) await write(at, at + 1);
    },
    async close() {
      await served.close();
      await api.close();
      await store.close();
    },
  };
}
