import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createSeenEvents } from '../../shared/state/seen-events.ts';
import { type HostWorld, startHostWorld } from '../functions/host-harness.ts';

const token = 'fuzz-token';
export const authorized: [string, string][] = [
  ['Host', 'localhost'],
  ['Authorization', `Bearer ${token}`],
];

/** A host with everything on: a token, ids remembered, ages checked. One machine, off, that nobody needs. */
export async function startFuzzWorld(): Promise<HostWorld & { readonly port: number }> {
  const cleanup: (() => Promise<void>)[] = [];
  const world = await startHostWorld(
    [{ name: 'mini-1', cpu: 8, memory: '32Gi', pool: 'closet' }],
    { pools: [{ name: 'closet', limits: { maxNodes: 1 } }] },
    undefined,
    undefined,
    (store) => {
      const seen = createSeenEvents(store, realClock, 60_000);
      cleanup.push(() => seen.close());
      return { token: async () => token, events: { maxAgeMs: 60_000, seen, clock: realClock } };
    },
  );
  return {
    ...world,
    port: Number(new URL(world.host.url).port),
    async close() {
      for (const end of cleanup) await end();
      await world.close();
    },
  };
}

/** All that is decided or described: what no damaged request may change. */
export async function truth(store: Store): Promise<Record<string, unknown>> {
  const { entries } = await store.list('/baremetal/');
  const kept = entries.flatMap(({ key, value }): [string, unknown][] => {
    if (/\/(spec|config|members)$|\/operations\//.test(key)) return [[key, JSON.parse(value)]];
    if (!key.endsWith('/status')) return [];
    const { state, operation } = JSON.parse(value);
    return [[key, { state, operation }]];
  });
  return Object.fromEntries(kept);
}
