import type { Deps } from '../../functions/deps.ts';
import { createFunctions } from '../../functions/index.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';
import type { Power, PowerVerb } from '../../shared/core/machine/machine.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Cluster } from '../../shared/ports/cluster.ts';
import type { BamelEvent } from '../../shared/ports/events.ts';
import type { Lease, Store } from '../../shared/ports/store.ts';
import { createLog } from '../../shared/process/log.ts';
import type { ServedFunction } from '../../shared/server/function.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';

/**
 * Machines, nodes and pods as plain data with effects at once, so that thousands of orders of events can be
 * tried: what the story tests show on real parts, the properties show for every order. Store and handlers are
 * the real ones.
 */
export interface MiniWorld {
  readonly store: Store;
  readonly power: Map<string, Power>;
  readonly commands: { readonly machine: string; readonly verb: PowerVerb; readonly by: string }[];
  /** Pods were running on a machine when it was told to power off. */
  readonly lost: string[];
  readonly instances: readonly Instance[];
  /** Events that were emitted and not yet delivered. */
  readonly pending: BamelEvent[];
  setPods(count: number): void;
  /** The machine's node turns up under another name, its pods with it. */
  renameNode(from: string, to: string): void;
  pods(): readonly Pod[];
  passTime(ms: number): void;
  /** Delivers everything, with ticks and time passing, until nothing more happens. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

interface Instance {
  readonly name: string;
  readonly deps: Deps;
  deliver(functionName: string, event: BamelEvent): Promise<void>;
}

export interface MiniOptions {
  readonly machines?: number;
  readonly maxNodes?: number;
  /** One instance each; how much their wall clocks are off. */
  readonly skewsMs?: readonly number[];
  /** Everybody gets every lease: what a holder that slept through its TTL believes. */
  readonly leasesFail?: boolean;
}

const silent = createLog({ level: 'silent', format: 'json' });
const uuidOf = (name: string): string => `uuid-of-${name}`;
export const tick: BamelEvent = { type: 'dev.bamel.tick.due', subject: 'everything', data: {} };

export async function startMiniWorld({
  machines = 2,
  maxNodes = 0,
  skewsMs = [0],
  leasesFail = false,
}: MiniOptions = {}): Promise<MiniWorld> {
  const opened = await openStore('embedded:');
  const store = withTurns(opened, leasesFail);
  const names = Array.from({ length: machines }, (_, index) => `m-${index + 1}`);
  await loadInventory(store, {
    schemaVersion: 'v1alpha1',
    autoscaler: { timings: { readEvery: '1s', sweepEvery: '1s' } },
    pools: [{ name: 'rack', limits: { maxNodes }, scaleDown: { unneededFor: '1m' } }],
    machines: names.map((name) => ({
      name,
      pool: 'rack',
      powerInterface: 'redfish',
      resources: { cpu: 4, memory: '16Gi' },
      systemUUID: uuidOf(name),
    })),
  });
  let time = Date.UTC(2026, 0, 1);
  const power = new Map<string, Power>(names.map((name) => [name, 'off']));
  const commands: MiniWorld['commands'] = [];
  const lost: string[] = [];
  const nodes = new Map<string, Node>([
    ['control', newNode('control', [{ key: 'control', effect: 'NoSchedule' }])],
  ]);
  let pods: Pod[] = [];
  let boots = 0;
  const pending: BamelEvent[] = [];

  /** What kubelets and the scheduler would do. */
  const cluster: Cluster = {
    view: async () => ({ pods, nodes: [...nodes.values()] }),
    podsOn: async (node) => pods.filter((pod) => pod.node === node),
    node: async (name) => nodes.get(name),
    async changeNode(name, { unschedulable, annotations = {}, labels = {} }) {
      const node = nodes.get(name);
      if (!node) return;
      const kept = Object.entries({ ...node.annotations, ...annotations }).filter(
        ([, value]) => value !== null,
      );
      nodes.set(name, {
        ...node,
        labels: { ...node.labels, ...labels },
        unschedulable: unschedulable ?? node.unschedulable,
        annotations: Object.fromEntries(kept) as Record<string, string>,
      });
      schedule();
    },
    deleteNode: async (name) => nodes.delete(name),
    forceDelete: async () => false,
    volumesOn: async () => [],
    recordEvent: async () => undefined,
    async evict({ uid }) {
      pods = pods.map((pod) =>
        pod.uid === uid ? { ...pod, node: undefined, unschedulable: 'evicted' } : pod,
      );
      schedule();
      return { kind: 'evicted' };
    },
  };
  function schedule(): void {
    const taken = new Set(pods.map(({ node }) => node));
    pods = pods.map((pod) => {
      if (pod.node) return pod;
      const node = [...nodes.values()].find(
        ({ name, unschedulable, ready, taints }) =>
          ready && !unschedulable && taints.length === 0 && !taken.has(name),
      );
      taken.add(node?.name);
      return node
        ? { ...pod, node: node.name, unschedulable: undefined }
        : { ...pod, unschedulable: 'no node' };
    });
  }
  function setPower(name: string, verb: PowerVerb, by: string): void {
    commands.push({ machine: name, verb, by });
    const now: Power = verb === 'on' ? 'on' : 'off';
    if (power.get(name) === now) return;
    power.set(name, now);
    if (now === 'on')
      nodes.set(name, { ...newNode(name, []), systemUUID: uuidOf(name), bootID: `boot-${++boots}` });
    else {
      lost.push(...pods.filter(({ node }) => node === name).map((pod) => pod.name));
      const node = nodes.get(name);
      if (node) nodes.set(name, { ...node, ready: false });
    }
    schedule();
  }

  const instances = skewsMs.map((skew, index): Instance => {
    const by = `instance-${index + 1}`;
    const clock: Clock = {
      now: () => time + skew,
      monotonic: () => time,
      async sleep(ms) {
        time += ms;
        // A turn for the others.
        await new Promise(setImmediate);
      },
    };
    const deps: Deps = {
      inventory: createInventory(store, clock),
      cluster,
      driverFor: async ({ name }) => ({
        capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: false, sensors: false },
        read: async () => ({ power: power.get(name) ?? 'unknown' }),
        set: async (verb) => setPower(name, verb, by),
      }),
      sink: {
        async emit(event) {
          pending.push(event);
        },
      },
      clock,
      log: silent,
      failpoint: () => undefined,
      owner: by,
    };
    const functions = new Map(createFunctions(deps).map((one) => [one.definition.name, one]));
    return {
      name: by,
      deps,
      async deliver(functionName, event) {
        const target = functions.get(functionName) as ServedFunction;
        const input = target.definition.input.parse(event.data);
        const outcome = await target.handle(input, {
          trigger: event.type,
          id: 'test',
          signal: new AbortController().signal,
        });
        if (outcome.kind === 'rejected') throw new Error(outcome.why);
      },
    };
  });

  return {
    store,
    power,
    commands,
    lost,
    instances,
    pending,
    pods: () => pods,
    setPods(count) {
      pods = Array.from({ length: count }, (_, index) => pods[index] ?? newPod(`pod-${index + 1}`));
      schedule();
    },
    renameNode(from, to) {
      const node = nodes.get(from);
      if (!node) throw new Error(`there is no node ${from}`);
      nodes.delete(from);
      nodes.set(to, { ...node, name: to });
      pods = pods.map((pod) => (pod.node === from ? { ...pod, node: to } : pod));
    },
    passTime(ms) {
      time += ms;
    },
    async settle() {
      for (let round = 0; round < 12; round += 1) {
        pending.length = 0;
        for (const name of ['power-action', 'join-watcher', 'evaluate-scaling', 'drain-node'])
          for (const instance of instances) await instance.deliver(name, tick);
        time += 30_000;
      }
    },
    close: () => store.close(),
  };
}

/** Gives others a turn at every call, as a network would: the embedded store alone answers at once. */
function withTurns(store: Store, leasesFail: boolean): Store {
  const turn = <Value>(call: () => Promise<Value>): Promise<Value> => new Promise(setImmediate).then(call);
  const granted: Lease = {
    name: 'granted',
    fence: { key: '/baremetal/leases/nobody', revision: 0 },
    lost: new AbortController().signal,
    remainingMs: () => Number.MAX_SAFE_INTEGER,
    release: async () => undefined,
  };
  return {
    get: (key) => turn(() => store.get(key)),
    list: (prefix) => turn(() => store.list(prefix)),
    commit: (conditions, writes) => turn(() => store.commit(conditions, writes)),
    watch: (prefix, onChange) => store.watch(prefix, onChange),
    acquire: (...args) => turn(() => (leasesFail ? Promise.resolve(granted) : store.acquire(...args))),
    close: () => store.close(),
  };
}

function newNode(name: string, taints: Node['taints']): Node {
  return {
    name,
    ready: true,
    unschedulable: false,
    labels: {},
    annotations: {},
    taints,
    allocatable: { cpu: 4000, memory: 2 ** 34, pods: 110 },
  };
}

/** One fills a machine. */
function newPod(name: string): Pod {
  return {
    namespace: 'default',
    name,
    uid: name,
    finished: false,
    terminating: false,
    belongsToNode: false,
    movable: true,
    requests: { cpu: 3000 },
    nodeSelector: {},
    tolerations: [],
    createdAt: 0,
  };
}
