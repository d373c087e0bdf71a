import { type ProviderOptions, startProvider } from '../../apps/cluster-autoscaler/server.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { Settings } from '../../shared/schema/settings.ts';
import { createInventory, type Inventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { applyEvent } from '../../shared/state/machine-writes.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type Caller, callerOf } from '../../tools/worlds/cluster-autoscaler-client.ts';

export const pool = (name = 'rack', more: object = {}) => ({
  name,
  managedBy: 'clusterAutoscaler' as const,
  ...more,
});

export interface Bench {
  readonly store: Store;
  readonly inventory: Inventory;
  readonly caller: Caller;
  readonly emitted: BamelEvent[];
  readonly port: number;
  /** What a machine lives through, as the other functions would write it. */
  live(name: string, ...steps: readonly Step[]): Promise<void>;
  stateOf(name: string): Promise<string | undefined>;
  /** Another replica on the same store. */
  another(options?: Partial<ProviderOptions>): Promise<Caller>;
  close(): Promise<void>;
}

/** An event, and what was seen with it. */
export type Step = readonly [MachineEvent, Partial<MachineStatus>?];

export const poweredOn: Step = [{ type: 'powered-on' }, { powerState: 'on' }];
export const joined = (node: string, providerID = `bamel://${node}`): Step => [
  { type: 'joined', node },
  { nodeReady: true, kubernetesNode: node, providerID },
];
export const drained: Step = [
  { type: 'drained' },
  { drain: { podsLeft: 0, podsTotal: 0 }, nodeReady: false },
];
export const poweredOff: Step = [{ type: 'powered-off' }, { powerState: 'off' }];
export const failed = (message = 'nothing happened'): Step => [
  { type: 'failed', code: 'power-on-failed', message },
];

const settings = Settings.parse({});

export async function openBench(
  described: Pick<ConfigInput, 'pools' | 'machines' | 'autoscaler'>,
  options: Partial<ProviderOptions> = {},
  wrap: (store: Store) => Store = (store) => store,
): Promise<Bench> {
  const raw = await openStore('embedded:');
  await loadInventory(raw, { schemaVersion: 'v1alpha1', ...described });
  const store = wrap(raw);
  const inventory = createInventory(store, realClock);
  // As a sweep leaves them: an unknown power is no power to count on.
  for (const record of await inventory.machines())
    await raw.commit(
      [],
      [
        {
          put: `/baremetal/nodes/${record.spec.name}/status`,
          value: JSON.stringify({ v: 1, state: 'off', stateSince: 1, powerState: 'off', attempts: 0 }),
        },
      ],
    );
  const emitted: BamelEvent[] = [];
  const stops: (() => unknown)[] = [];
  const start = async (more: Partial<ProviderOptions>) => {
    const provider = await startProvider(
      {
        inventory,
        clock: realClock,
        log: createLog({ level: 'silent', format: 'json' }),
        failpoint: () => undefined,
        owner: `test-${stops.length}`,
        sink: { emit: async (event) => void emitted.push(event) },
      },
      { host: '127.0.0.1', port: 0, ...options, ...more },
    );
    const caller = callerOf(`127.0.0.1:${provider.port}`);
    stops.push(async () => {
      caller.close();
      await provider.close();
    });
    return { caller, port: provider.port };
  };
  const { caller, port } = await start({});
  return {
    store: raw,
    inventory,
    caller,
    emitted,
    port,
    another: async (more = {}) => (await start(more)).caller,
    stateOf: async (name) => (await inventory.machine(name))?.status.state,
    async live(name, ...steps) {
      for (const [event, observed] of steps) {
        const lease = await eventually(async () => {
          const held = await raw.acquire(`machine-${name}`, 60_000, 'test');
          if (!held) throw new Error('held');
          return held;
        });
        const record = await inventory.machine(name);
        if (!record) throw new Error(`there is no machine ${name}`);
        const now = Math.max(Date.now(), record.status.stateSince + 1);
        const result = await applyEvent(inventory, record, {
          event,
          by: 'test',
          observed,
          lease,
          settings,
          now,
        });
        await lease.release();
        if (result.kind !== 'changed') throw new Error(`${event.type} on ${name}: ${JSON.stringify(result)}`);
      }
      // Until the watch has told of it.
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async close() {
      for (const stop of stops) await stop();
      await raw.close();
    },
  };
}
