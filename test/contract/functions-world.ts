import {
  AppsV1Api,
  CoreV1Api,
  EventsV1Api,
  PatchStrategy,
  setHeaderOptions,
  type V1PodSpec,
} from '@kubernetes/client-node';
import type { Deps } from '../../functions/deps.ts';
import { drainNode } from '../../functions/drain-node/handler.ts';
import { joinWatcher } from '../../functions/join-watcher/handler.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { type MachineStatus, newStatus } from '../../shared/core/machine/machine.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Store } from '../../shared/ports/store.ts';
import { createLog } from '../../shared/process/log.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { encode } from '../../shared/state/codec.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import { keys } from '../../shared/state/keys.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import {
  type ClusterHarness,
  freshNamespace,
  isReady,
  pause,
  until,
} from '../../tools/worlds/cluster-client.ts';
import type { NodeOptions } from '../../tools/worlds/cluster-kubelet.ts';

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** Time that a test sets forward: whoever sleeps takes no time, and yet time passes. */
function testClock(): Clock & { pass(ms: number): void } {
  let ahead = 0;
  const clock: Clock = {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    async sleep(ms) {
      ahead += ms;
      await new Promise((resolve) => setTimeout(resolve, 10));
    },
  };
  return {
    ...clock,
    pass(ms) {
      ahead += ms;
    },
  };
}

export interface FunctionsWorld {
  readonly namespace: string;
  readonly core: CoreV1Api;
  readonly store: Store;
  readonly clock: ReturnType<typeof testClock>;
  readonly emitted: BamelEvent[];
  readonly lines: string[];
  /** What the functions are given; a test may break something in it. */
  readonly deps: Deps;
  /** Puts machines into the store as they are described, in the states given. */
  machines(
    described: readonly (Partial<NonNullable<ConfigInput['machines']>[number]> & { name: string })[],
    status: Partial<MachineStatus>,
    pool?: Partial<NonNullable<ConfigInput['pools']>[number]>,
    autoscaler?: ConfigInput['autoscaler'],
  ): Promise<void>;
  setStatus(machine: string, status: Partial<MachineStatus>): Promise<void>;
  record(machine: string): Promise<MachineRecord>;
  status(machine: string): Promise<MachineStatus>;
  join(deps?: Partial<Deps>): Promise<Outcome>;
  drain(deps?: Partial<Deps>): Promise<Outcome>;
  /** A node of this test, gone with it. */
  node(name: string, options?: NodeOptions): Promise<string>;
  setReady(node: string, status: 'True' | 'False' | 'Unknown'): Promise<void>;
  deploy(
    app: string,
    replicas: number,
    node: string,
    spec?: Partial<V1PodSpec>,
    annotations?: Record<string, string>,
  ): Promise<void>;
  podsOn(node: string): Promise<string[]>;
  /** "Warning NoMachineFits text", of an object. */
  told(kind: string, name: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startFunctionsWorld(
  harness: ClusterHarness,
  cluster: Cluster,
): Promise<FunctionsWorld> {
  const { kubeConfig } = harness;
  const namespace = await freshNamespace(kubeConfig);
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const store = await openStore('embedded:');
  const clock = testClock();
  const inventory = createInventory(store, clock);
  const emitted: BamelEvent[] = [];
  const lines: string[] = [];
  const nodes: string[] = [];
  const deps: Deps = {
    inventory,
    cluster,
    driverFor: () => Promise.reject(new Error('nobody has power here')),
    sink: {
      emit: async (event) => {
        emitted.push(event);
      },
    },
    clock,
    log: createLog({ level: 'debug', format: 'json', stream: { write: (line) => lines.push(line) } }),
    failpoint: () => undefined,
    owner: 'test',
  };
  const record = async (name: string): Promise<MachineRecord> => {
    const found = await inventory.machine(name);
    if (!found) throw new Error(`there is no machine ${name}`);
    return found;
  };
  const context = () => ({ trigger: 'test', id: 'test', signal: new AbortController().signal });
  // One handler each for the whole test, as a warm instance has; other deps make a cold one.
  const joins = joinWatcher(deps);
  const drains = drainNode(deps);
  const setStatus = async (name: string, status: Partial<MachineStatus>) => {
    const key = keys.node(name, 'status');
    const now = clock.now();
    const before = (await inventory.machine(name))?.status ?? newStatus(now);
    await store.commit([], [{ put: key, value: encode({ ...before, stateSince: now, ...status }) }]);
  };
  return {
    namespace,
    core,
    store,
    clock,
    emitted,
    lines,
    deps,
    async machines(described, status, pool = {}, autoscaler = {}) {
      await loadInventory(store, {
        schemaVersion: 'v1alpha1',
        autoscaler,
        pools: [{ name: 'rack', ...pool }],
        machines: described.map((one) => ({
          pool: 'rack',
          powerInterface: 'redfish',
          mgmtAddress: 'https://bmc.example',
          resources: { cpu: 4, memory: '8Gi' },
          ...one,
        })),
      });
      for (const { name } of described) await setStatus(name, status);
    },
    setStatus,
    record,
    status: async (name) => (await record(name)).status,
    join: (more) => (more ? joinWatcher({ ...deps, ...more }) : joins)({}, context()),
    drain: (more) => (more ? drainNode({ ...deps, ...more }) : drains)({}, context()),
    async node(name, options = {}) {
      const full = `${namespace}-${name}`;
      nodes.push(full);
      await harness.addNode(full, { ...options, labels: { 'test/node': full, ...options.labels } });
      await until(`${full} is seen`, async () =>
        (await cluster.view()).nodes.some((one) => one.name === full && one.ready),
      );
      return full;
    },
    async setReady(name, status) {
      // kwok would set it right again.
      await core.patchNode(
        { name, body: { metadata: { annotations: { 'kwok.x-k8s.io/node': null } } } },
        mergePatch,
      );
      const { status: now } = await core.readNode({ name });
      const others = (now?.conditions ?? []).filter(({ type }) => type !== 'Ready');
      const at = new Date();
      const conditions = [
        ...others,
        {
          type: 'Ready',
          status,
          reason: 'Test',
          message: 'a test',
          lastHeartbeatTime: at,
          lastTransitionTime: at,
        },
      ];
      await core.patchNodeStatus({ name, body: { status: { conditions } } }, mergePatch);
      await until(`${name} is seen ${status}`, async () =>
        (await cluster.view()).nodes.some(
          (one) =>
            one.name === name && one.ready === (status === 'True') && one.silent === (status === 'Unknown'),
        ),
      );
    },
    async deploy(app, replicas, node, spec = {}, annotations = {}) {
      await kubeConfig.makeApiClient(AppsV1Api).createNamespacedDeployment({
        namespace,
        body: {
          metadata: { name: app },
          spec: {
            replicas,
            selector: { matchLabels: { app } },
            template: {
              metadata: { labels: { app }, annotations },
              spec: {
                nodeSelector: { 'test/node': node },
                terminationGracePeriodSeconds: 1,
                containers: [pause],
                ...spec,
              },
            },
          },
        },
      });
      await until(`${app} runs`, async () => {
        const { items } = await core.listNamespacedPod({ namespace, labelSelector: `app=${app}` });
        return items.length === replicas && items.every(isReady);
      });
    },
    async podsOn(node) {
      const { items } = await core.listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${node}` });
      return items.map(({ metadata }) => metadata?.name ?? '').sort();
    },
    async told(kind, name) {
      const { items } = await kubeConfig.makeApiClient(EventsV1Api).listEventForAllNamespaces();
      return items
        .filter(
          ({ regarding, reportingController }) =>
            reportingController === 'bamel.dev/autoscaler' &&
            regarding?.kind === kind &&
            regarding.name === name,
        )
        .map(({ type, reason, note }) => `${type} ${reason} ${note}`);
    },
    async close() {
      await store.close();
      for (const name of nodes) await core.deleteNode({ name }).catch(ignoreMissing);
      await core.deleteNamespace({ name: namespace });
    },
  };
}

export function ignoreMissing(error: { code?: number }): void {
  if (error.code !== 404) throw error;
}
