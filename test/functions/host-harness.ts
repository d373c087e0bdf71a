import { connect } from '../../apps/host/connect.ts';
import { type Host, startHost } from '../../apps/host/host.ts';
import type { Doorway } from '../../apps/host/serve-options.ts';
import { functionTable } from '../../functions/index.ts';
import { events } from '../../shared/ports/event-types.ts';
import type { Credentials } from '../../shared/ports/power.ts';
import type { Store } from '../../shared/ports/store.ts';
import { createLog } from '../../shared/process/log.ts';
import { createMetrics } from '../../shared/process/metrics.ts';
import { readSettings } from '../../shared/process/settings.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { labConfig, labCredentials } from '../../simulator/lab/config.ts';
import { type Lab, type LabOptions, startLab } from '../../simulator/lab/lab.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { type Workloads, workloadsOf } from '../../tools/worlds/workload.ts';

const tickDone = `${events.tick} done`;

export interface HostWorld {
  readonly lab: Lab;
  readonly people: Workloads;
  readonly store: Store;
  readonly host: Host;
  /** Of the whole store: any write raises it. */
  revision(): Promise<number>;
  post(path: string, body: string | object): Promise<{ status: number; body: Record<string, unknown> }>;
  close(): Promise<void>;
}

/** A host in this process on a lab. It ticks once, at its start, and then only does what it is asked to. */
export async function startHostWorld(
  machines: LabOptions['machines'],
  config: Partial<ConfigInput>,
  prepare: (people: Workloads) => Promise<void> = async () => undefined,
  /** Credentials of what is not in the lab. */
  others: (name: string) => Promise<Credentials | undefined> = async () => undefined,
  /** Who may call, and what is taken from them. */
  doorway: (store: Store) => Partial<Doorway> = () => ({}),
): Promise<HostWorld> {
  await using cleanup = new AsyncDisposableStack();
  const lab = await startLab({ machines, speed: 40 });
  cleanup.defer(() => lab.stop());
  const people = workloadsOf(lab.kubeconfig, 'by-hand');
  await people.createNamespace();
  await prepare(people);

  const read = readSettings(['--store', 'embedded:'], {});
  if (!('settings' in read)) throw new Error('these settings ask for help');
  const inventory = lab.inventory();
  const log = createLog({ level: 'silent', format: 'json' });
  const { deps, close } = await connect({
    settings: read.settings,
    log,
    kubeconfig: lab.kubeconfig,
    credentials: async (name) => (await others(name)) ?? labCredentials(inventory)(name),
  });
  cleanup.defer(close);
  const { store } = deps.inventory;
  await loadInventory(store, labConfig(inventory, config));
  const metrics = createMetrics();
  const serve = { host: '127.0.0.1', port: 0, ...doorway(store) };
  const host = await startHost({ deps, serve, metrics, tickMs: 3_600_000 });
  cleanup.defer(() => host.close());
  await eventually(async () => {
    const { values } = await metrics.invocations.get();
    const ticked = values.filter(({ labels: { trigger, outcome } }) => `${trigger} ${outcome}` === tickDone);
    const woken = functionTable.filter(({ definition }) => definition.wakesOn.includes(events.tick));
    expect(ticked).toHaveLength(woken.length);
  });

  const running = cleanup.move();
  return {
    lab,
    people,
    store,
    host,
    revision: async () => (await store.list('/')).revision,
    async post(path, body) {
      const response = await fetch(`${host.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    close: () => running.disposeAsync(),
  };
}
