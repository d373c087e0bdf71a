import { openApi } from '../../apps/api/api.ts';
import { consoleRoutes } from '../../apps/console/route.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { states } from '../../shared/core/machine/lifecycle.ts';
import { newStatus } from '../../shared/core/machine/machine.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { serve } from '../../shared/server/serve.ts';
import { encode } from '../../shared/state/codec.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import { clusterOf, decisionsOf, trendOf } from './console-story.ts';

export interface ConsoleHost {
  readonly url: string;
  /** Some machines, the next ones every time, are in another state now. */
  change(machines: number): Promise<void>;
  close(): Promise<void>;
}

export interface Fleet {
  readonly machines: number;
  readonly eventsEach: number;
  /** Names as long as people have them. */
  readonly longNames?: boolean;
}

const perRack = (machines: number): number => (machines <= 20 ? 8 : 40);
const racksPerHall = 5;

/** The console and its API over a store that is full. Nothing else runs on it. */
export async function startConsoleHost({
  machines,
  eventsEach,
  longNames = false,
}: Fleet): Promise<ConsoleHost> {
  const store = await openStore('embedded:');
  const named = (index: number): string =>
    longNames
      ? `compute-with-a-name-as-long-as-people-have-them.north-dc1-${index + 1}`
      : `node-${index + 1}`;
  const poolNamed = (index: number): string =>
    longNames
      ? `pool-for-${['training', 'inference', 'web', 'batch', 'storage'][index]}-of-the-north`
      : `pool-${index}`;
  const names = Array.from({ length: machines }, (_, index) => named(index));
  const each = perRack(machines);
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    pools: Array.from({ length: 5 }, (_, index) => ({ name: poolNamed(index) })),
    machines: names.map((name, index) => {
      const rack = Math.floor(index / each);
      return {
        name,
        pool: poolNamed(index % 5),
        rack: `rack-${rack + 1}`,
        zone: `hall-${Math.floor(rack / racksPerHall) + 1}`,
        // The second rack of a small site is one whose units are known.
        ...(machines <= 20 &&
          rack % 2 === 1 && { rackUnit: 1 + (index % each) * 2, rackHeight: 1 + (index % 2) }),
        powerInterface: 'redfish' as const,
        mgmtAddress: `https://10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
        resources: { cpu: 32, memory: '128Gi' },
        watts: { idle: 80, max: 300 },
      };
    }),
  });
  const write = writer(store, names, eventsEach);
  for (const index of names.keys()) await write(index, turnOf(index));
  const commits = [...decisionsOf(names), ...trendOf(machines, poolNamed)];
  for (const { key, value } of commits) await store.commit([], [{ put: key, value: encode(value) }]);
  const log = createLog({ level: 'warn', format: 'json' });
  const view = clusterOf(
    names.filter((_, index) => stateAt(turnOf(index)) === 'ready'),
    longNames,
  );
  const cluster = { view: async () => view } as unknown as Cluster;
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

/** Most serve or are off, as in a fleet that follows its demand. */
const usual = [
  'ready',
  'off',
  'ready',
  'ready',
  'joining',
  'off',
  'ready',
  'draining',
  'ready',
  'off',
  'ready',
  'error',
  'ready',
  'maintenance',
  'powering-on',
  'ready',
];
const turnOf = (index: number): number =>
  states.indexOf(
    (usual[(index * 7 + Math.floor(index / 16)) % usual.length] ?? 'off') as (typeof states)[number],
  );
const stateAt = (turn: number) => states[turn % states.length] ?? 'off';

function writer(store: Store, names: readonly string[], eventsEach: number) {
  return async (index: number, turn: number): Promise<void> => {
    const name = names[index % names.length] ?? '';
    const now = Date.now();
    const state = stateAt(turn);
    const isOn = state !== 'off' && state !== 'error' && state !== 'maintenance';
    const order = ['off', 'powering-on', 'joining', 'ready', 'draining', 'powering-off'];
    const entries = Array.from({ length: eventsEach }, (_, back) => ({
      at: now - (eventsEach - back) * 150_000 - (index % 40) * 1_000,
      by: 'power-action',
      event: 'powered-on',
      from: order[(index + back) % order.length] ?? 'off',
      to: order[(index + back + 1) % order.length] ?? 'off',
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
            stateSince: now - 40_000 - (index % 7) * 3_000,
            powerState: isOn ? 'on' : 'off',
            bmcReachable: index % 37 !== 5,
            learnedBootMs: 90_000 + (index % 5) * 20_000,
            ...(state === 'joining' && { bootTime: now - 20_000 - (index % 9) * 8_000 }),
            ...(state === 'ready' && { kubernetesNode: name, nodeReady: true }),
            ...(state === 'draining' && {
              kubernetesNode: name,
              nodeReady: true,
              drain: { podsLeft: 3, podsTotal: 8, waitingFor: 'the disruption budget web of namespace shop' },
            }),
            ...(state === 'error' && {
              attempts: 2,
              retryAt: now + 240_000,
              lastError: {
                code: 'never-joined',
                message: 'no answer from 10.0.0.7 within 10 s',
                at: now - 60_000,
              },
            }),
          }),
        },
        ...(state === 'ready' && index % 4 === 0
          ? [{ put: keys.node(name, 'metrics'), value: encode({ idleSince: now - 30_000 }) }]
          : []),
        { put: keys.node(name, 'events'), value: encode({ entries }) },
      ],
    );
  };
}
