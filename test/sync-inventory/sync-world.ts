import { CoreV1Api, CustomObjectsApi, type KubeConfig } from '@kubernetes/client-node';
import { syncInventory } from '../../functions/sync-inventory/handler.ts';
import { createKubeResources } from '../../shared/adapters/kubernetes/resources.ts';
import { kubeTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import type { DriverDeps } from '../../shared/ports/power.ts';
import type { Store } from '../../shared/ports/store.ts';
import { realClock } from '../../shared/process/clock.ts';
import { createLog } from '../../shared/process/log.ts';
import type { Condition } from '../../shared/schema/resource-status.ts';
import { encode } from '../../shared/state/codec.ts';
import { createInventory, type Inventory } from '../../shared/state/inventory.ts';
import { keys } from '../../shared/state/keys.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { send } from '../../tools/worlds/cluster-client.ts';
import { apply, pathOf } from './definitions.ts';

const kinds = ['BareMetalAutoscaler', 'BareMetalNode', 'NodePool'] as const;
export type Kind = (typeof kinds)[number];

interface Shown {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly finalizers?: string[];
    readonly generation: number;
  };
  readonly spec: Record<string, unknown>;
  readonly status?: Record<string, unknown> & { readonly conditions?: Condition[] };
}

export interface SyncWorld {
  readonly store: Store;
  readonly inventory: Inventory;
  readonly emitted: string[];
  /** One round of syncing. */
  sync(): Promise<Outcome>;
  /** Syncs until the check passes: what was applied just now may not have been seen yet. */
  synced<Value>(check: () => Promise<Value>): Promise<Value>;
  apply(kind: Kind, name: string, spec: object, metadata?: object, namespace?: string): Promise<void>;
  delete(kind: Kind, name: string): Promise<void>;
  /** Undefined: it is not there. */
  get(kind: Kind, name: string, namespace?: string): Promise<Shown | undefined>;
  condition(kind: Kind, name: string, type: string, namespace?: string): Promise<Condition | undefined>;
  /** Reasons and messages of the Kubernetes Events so far. */
  told(): Promise<string[]>;
  /** Lets time pass. */
  later(ms: number): void;
  /** What somebody found out about a machine. */
  observed(name: string, status: Partial<MachineStatus>): Promise<void>;
  close(): Promise<void>;
}

const unused = (): never => {
  throw new Error('not needed here');
};
const driverDeps = {
  credentials: unused,
  resolve: unused,
  nodeOf: unused,
  jobs: { ensure: unused, read: unused },
  clock: realClock,
} as unknown as DriverDeps;

/** A node for every machine that is known to be one. */
const nodesOf = async (inventory: Inventory) =>
  (await inventory.machines()).flatMap(({ status: { kubernetesNode } }) =>
    kubernetesNode ? [{ name: kubernetesNode, labels: {}, annotations: {}, ready: true }] : [],
  );

export const machineSpec = (pool = 'closet', more: object = {}): object => ({
  pool,
  powerInterface: 'redfish',
  mgmtAddress: 'https://bmc.example',
  resources: { cpu: 4, memory: '16Gi' },
  ...more,
});

/** The function itself on a real store and a given API server. */
export async function startSyncWorld(
  kubeConfig: KubeConfig,
  namespace: string,
  given = realClock,
): Promise<SyncWorld> {
  let offset = 0;
  const clock = { ...given, now: () => given.now() + offset };
  const store = await openStore('embedded:');
  const inventory = createInventory(store, clock);
  const log = createLog({ level: 'silent', format: 'json' });
  const resources = createKubeResources({
    transport: kubeTransport(kubeConfig),
    clock,
    log,
    timeoutMs: 5_000,
  });
  const emitted: string[] = [];
  const handler = syncInventory({
    inventory,
    resources,
    cluster: { view: async () => ({ pods: [], nodes: await nodesOf(inventory) }) } as never,
    driverFor: (spec) => driverFor(spec, driverDeps),
    sink: {
      async emit({ type, subject }) {
        emitted.push(`${type} ${subject}`);
      },
    },
    clock,
    log,
    failpoint: () => undefined,
    owner: 'test',
  } as Parameters<typeof syncInventory>[0]);
  const sync = () => handler({}, { trigger: 'by-hand', id: 'test', signal: new AbortController().signal });
  const at = (kind: Kind, name: string, where = namespace) => pathOf(where, kind, name);

  const get: SyncWorld['get'] = async (kind, name, where) => {
    const { code, body } = await send(kubeConfig, 'GET', at(kind, name, where));
    return code === 200 ? (body as unknown as Shown) : undefined;
  };
  return {
    store,
    inventory,
    emitted,
    sync,
    synced: (check) =>
      eventually(async () => {
        await sync();
        return check();
      }),
    async apply(kind, name, spec, metadata = {}, where = namespace) {
      const body = { apiVersion: 'bamel.dev/v1alpha1', kind, metadata: { name, ...metadata }, spec };
      const { code, body: answer } = await apply(kubeConfig, at(kind, name, where), body);
      if (code >= 300) throw new Error(`${kind} ${name}: ${answer.message}`);
    },
    async delete(kind, name) {
      await send(kubeConfig, 'DELETE', at(kind, name));
    },
    get,
    condition: async (kind, name, type, where) =>
      (await get(kind, name, where))?.status?.conditions?.find((one) => one.type === type),
    async told() {
      const { items } = await kubeConfig.makeApiClient(CoreV1Api).listNamespacedEvent({ namespace });
      return items.map(({ reason, message }) => `${reason}: ${message}`);
    },
    later(ms) {
      offset += ms;
    },
    async observed(name, status) {
      const key = keys.node(name, 'status');
      const before = (await inventory.machine(name))?.status;
      await store.commit([], [{ put: key, value: encode({ ...before, ...status }) }]);
    },
    async close() {
      resources.close();
      await store.close();
    },
  };
}

/** Removes every resource of ours, whoever waits for whatever. */
export async function sweepResources(kubeConfig: KubeConfig): Promise<void> {
  const custom = kubeConfig.makeApiClient(CustomObjectsApi);
  for (const kind of kinds) {
    const plural = `${kind.toLowerCase()}s`;
    const { items } = await custom.listCustomObjectForAllNamespaces({
      group: 'bamel.dev',
      version: 'v1alpha1',
      resourcePlural: plural,
    });
    for (const { metadata } of items as { metadata: { name: string; namespace: string } }[]) {
      const path = pathOf(metadata.namespace, kind, metadata.name);
      await send(kubeConfig, 'PATCH', path, {
        body: { metadata: { finalizers: null } },
        type: 'application/merge-patch+json',
      });
      await send(kubeConfig, 'DELETE', path);
    }
  }
}
