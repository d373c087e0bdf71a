import type {
  ClusterView,
  DaemonSet,
  Node,
  Pod,
  Requirement,
  SchedulingRules,
} from '../shared/core/cluster/cluster.ts';
import type { Resources } from '../shared/core/cluster/resources.ts';
import type { Snapshot } from '../shared/core/decide/snapshot.ts';
import type { Machine, MachineSpec } from '../shared/core/machine/machine.ts';
import { defaultPool, defaultSettings } from '../shared/core/settings.ts';

/** The time of every generated cluster. */
export const now = 1_800_000_000_000;
const hour = 3_600_000;
const Gi = 2 ** 30;

/** Big clusters, the same for the same seed. `scale` multiplies everything, for growth per doubling. */
export const scenarios = {
  /** 10,000 waiting pods of a realistic mix, 1,000 nodes of 30 pods, 2,000 machines of 20 kinds that are off. */
  mixed: (scale = 1) =>
    cluster({ nodes: 1000 * scale, podsPerNode: 30, use: 0.9, pending: 10_000 * scale, off: 2000 * scale }),
  /** 50,000 pods that are all alike and 1,000 machines that hold 50 each. */
  identical: (scale = 1) => identical(50_000 * scale, 1000 * scale),
  /** 2,000 nodes of 40 pods at 40 %: some 1,200 of them can go. */
  underused: (scale = 1) => cluster({ nodes: 2000 * scale, podsPerNode: 40, use: 0.4, pending: 0, off: 0 }),
  /** 10,000 nodes with 100,000 pods, 10,000 waiting. */
  huge: (scale = 1) =>
    cluster({ nodes: 10_000 * scale, podsPerNode: 10, use: 0.9, pending: 10_000 * scale, off: 2000 * scale }),
} satisfies Record<string, (scale?: number) => Snapshot>;

interface Size {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** How much of every node's cpu its pods ask for, about. */
  readonly use: number;
  readonly pending: number;
  readonly off: number;
  readonly seed?: number;
}

const zones = ['a', 'b', 'c'];
const disks = ['ssd', 'hdd'];

function cluster({ nodes: count, podsPerNode, use, pending, off, seed = 1 }: Size): Snapshot {
  const random = createRandom(seed);
  const nodes = Array.from({ length: count }, (_, index) => node(index));
  const size = { cpu: 32_000, memory: 128 * Gi };
  // What an average pod asks for, so that so many of them make up the wanted use.
  const share = { cpu: (size.cpu * use) / podsPerNode, memory: (size.memory * use) / podsPerNode };
  const templates = Array.from(
    { length: Math.max(20, Math.round(Math.sqrt(count * podsPerNode) * 2)) },
    (_, index) => template(index, share, random),
  );
  const running = placed(nodes, templates, podsPerNode, size, random);
  const waiting = Array.from({ length: pending }, (_, index) =>
    podOf(pick(templates, random), `w${index}`, undefined),
  );
  return {
    machines: [
      ...nodes.map(({ name, labels }) => servingMachine(name, size, labels)),
      ...Array.from({ length: off }, (_, index) => offMachine(index)),
    ],
    pools: [{ ...defaultPool, name: 'workers' }],
    settings: defaultSettings,
    cluster: { ...surroundings, nodes, pods: [...running, ...waiting] },
  };
}

function identical(pending: number, off: number): Snapshot {
  const only: Template = { name: 'only', requests: { cpu: 600, memory: 2 * Gi }, labels: { app: 'only' } };
  return {
    machines: Array.from({ length: off }, (_, index) =>
      machine({
        name: `off-${index}`,
        resources: { cpu: 32_000, memory: 128 * Gi, pods: 110 },
        watts: watts(200),
      }),
    ),
    pools: [{ ...defaultPool, name: 'workers' }],
    settings: defaultSettings,
    cluster: {
      nodes: [],
      pods: Array.from({ length: pending }, (_, index) => podOf(only, `w${index}`, undefined)),
    },
  };
}

interface Template {
  readonly name: string;
  readonly requests: Resources;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly rules?: SchedulingRules;
}

const host = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const equals = (key: string, value: string): Requirement => ({ key, operator: 'In', values: [value] });

/** Six in ten want nothing special; the others what people commonly write. */
function template(index: number, share: { cpu: number; memory: number }, random: () => number): Template {
  const name = `app-${index}`;
  const own = [equals('app', name)];
  const factor = (): number => [0.25, 0.5, 1, 1, 1.5, 1.75][Math.floor(random() * 6)] as number;
  const requests = { cpu: Math.round(share.cpu * factor()), memory: Math.round(share.memory * factor()) };
  const spread = (topologyKey: string, maxSkew: number, hard = true) => ({
    topologyKey,
    maxSkew,
    hard,
    selector: own,
  });
  const special: readonly Pick<Template, 'nodeSelector' | 'rules'>[] = [
    { nodeSelector: { disk: pick(disks, random) } },
    {
      rules: { nodeAffinity: [{ labels: [{ key: zone, operator: 'In', values: ['a', 'b'] }], fields: [] }] },
    },
    { rules: { spread: [spread(zone, 1 + Math.floor(random() * 5))] } },
    { rules: { spread: [spread(host, 2)] } },
    { rules: { podAntiAffinity: [{ topologyKey: host, selector: own }] } },
    { rules: { podAffinity: [{ topologyKey: zone, selector: own }] } },
    { rules: { podPreferences: [{ weight: -50, term: { topologyKey: host, selector: own } }] } },
    {
      rules: {
        nodePreferences: [{ weight: 20, term: { labels: [equals('disk', 'ssd')], fields: [] } }],
        spread: [spread(zone, 1, false)],
      },
    },
  ];
  const wants = random() < 0.6 ? {} : pick(special, random);
  return { name, requests, labels: { app: name, tier: index % 2 ? 'front' : 'back' }, ...wants };
}

/** Pods where their rules let them be, each template's dealt out evenly over the nodes. */
function placed(
  nodes: readonly Node[],
  templates: readonly Template[],
  podsPerNode: number,
  size: { cpu: number; memory: number },
  random: () => number,
): Pod[] {
  const pods: Pod[] = [];
  const byZone = Map.groupBy(templates, ({ rules }) => (rules?.podAffinity ? 'a' : ''));
  const everywhere = byZone.get('') ?? [];
  for (const [index, { name, labels }] of nodes.entries()) {
    const free = { ...size };
    const taken = new Set<Template>();
    // From a random start on, so that every template is everywhere, and no node has the same pod twice.
    let at = Math.floor(random() * everywhere.length);
    for (let n = 0; n < podsPerNode; at++) {
      if (taken.size >= everywhere.length) taken.clear();
      const next = everywhere[at % everywhere.length] as Template;
      if (at > everywhere.length * 3) break;
      const { cpu = 0, memory = 0 } = next.requests;
      const allowed =
        (!next.nodeSelector || next.nodeSelector.disk === labels.disk) &&
        (!next.rules?.nodeAffinity || labels[zone] !== 'c') &&
        !taken.has(next) &&
        cpu <= free.cpu &&
        memory <= free.memory;
      if (!allowed) continue;
      taken.add(next);
      free.cpu -= cpu;
      free.memory -= memory;
      pods.push(podOf(next, `r${index}-${n++}`, name));
    }
  }
  return pods;
}

const nothing = {};
const none: never[] = [];

function podOf(template: Template, name: string, on: string | undefined): Pod {
  return {
    namespace: 'default',
    name,
    uid: name,
    node: on,
    finished: false,
    unschedulable: on ? undefined : 'Insufficient cpu',
    terminating: false,
    belongsToNode: false,
    movable: true,
    requests: template.requests,
    nodeSelector: template.nodeSelector ?? nothing,
    tolerations: none,
    createdAt: now - hour,
    labels: template.labels,
    priority: 0,
    rules: template.rules,
  };
}

const node = (index: number): Node => {
  const name = `node-${index}`;
  return {
    name,
    ready: true,
    unschedulable: false,
    labels: {
      [host]: name,
      [zone]: pick(zones, () => (index % zones.length) / zones.length),
      disk: pick(disks, () => (index % disks.length) / disks.length),
    },
    annotations: nothing,
    taints: none,
    allocatable: { cpu: 32_000, memory: 128 * Gi, pods: 110 },
  };
};

const watts = (max: number) => ({ idle: max / 2, max });

const machine = (spec: Partial<MachineSpec> & Pick<MachineSpec, 'name' | 'resources'>): Machine => ({
  spec: { pool: 'workers', powerInterface: 'redfish', ...spec },
  status: {
    state: 'off',
    stateSince: now - 24 * hour,
    powerState: 'off',
    bmcReachable: true,
    attempts: 0,
    provenAt: now - 48 * hour,
  },
  metrics: {},
});

function servingMachine(name: string, resources: Resources, labels: Node['labels']): Machine {
  const { spec, status } = machine({ name, resources, labels, watts: watts(400) });
  return {
    spec,
    status: { ...status, state: 'ready', powerState: 'on', kubernetesNode: name, nodeReady: true },
    metrics: { idleSince: now - 2 * hour },
  };
}

/** Five sizes, in two zones and with two sorts of disk. */
function offMachine(index: number): Machine {
  const cores = [8, 16, 32, 48, 64][index % 5] as number;
  return machine({
    name: `off-${index}`,
    resources: { cpu: cores * 1000, memory: cores * 4 * Gi, pods: 110 },
    labels: {
      [zone]: zones[Math.floor(index / 5) % 2] as string,
      disk: disks[Math.floor(index / 10) % 2] as string,
    },
    rack: `rack-${index % 40}`,
    watts: watts(60 + cores * 8),
  });
}

const agent: DaemonSet = {
  namespace: 'kube-system',
  name: 'agent',
  template: {
    ...podOf(
      { name: 'agent', requests: { cpu: 100, memory: Gi / 8 }, labels: { app: 'agent' } },
      'agent',
      undefined,
    ),
    unschedulable: undefined,
    belongsToNode: true,
  },
};
const surroundings: Omit<ClusterView, 'pods' | 'nodes'> = {
  daemonSets: [agent],
  namespaces: [{ name: 'default', labels: {} }],
  volumes: [],
  claims: [],
  storageClasses: [],
  budgets: [],
};

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item;

/** mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
