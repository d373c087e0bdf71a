import type { Pod, Requirement, SchedulingRules } from '../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../shared/core/decide/snapshot.ts';
import type { Machine } from '../shared/core/machine/machine.ts';
import { defaultPool, defaultSettings } from '../shared/core/settings.ts';
import { now } from './clusters.ts';

const hour = 3_600_000;
const Mi = 2 ** 20;
const Gi = 2 ** 30;
const host = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const zones = ['zone-a', 'zone-b', 'zone-c'];

/** Uniform in [0, 1), the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface WorkloadOptions {
  readonly pods: number;
  readonly machines: number;
  /** Kinds of machines, that is, sizes. */
  readonly kinds: number;
  readonly seed?: number;
  /** Every pod has a size of its own instead of one of thirty. */
  readonly manySizes?: boolean;
  /** Families to take in turn; all of them unless given. */
  readonly families?: readonly Family[];
}

type Family =
  | 'plain'
  | 'zone-spread'
  | 'host-spread'
  | 'zone-affinity'
  | 'host-anti-affinity'
  | 'preferences';

/** The families of Karpenter's own benchmark, a fifth of the pods each. */
const diverse: readonly Family[] = [
  'plain',
  'zone-spread',
  'host-spread',
  'zone-affinity',
  'host-anti-affinity',
];

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item;

const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const equals = (key: string, value: string): Requirement => ({ key, operator: 'In', values: [value] });

function rulesOf(family: Family, random: () => number): Pick<Pod, 'labels' | 'rules'> {
  const label = pick(letters, random);
  const spread = (topologyKey: string): SchedulingRules => ({
    spread: [{ topologyKey, maxSkew: 1, hard: true, selector: [equals('my-label', pick(letters, random))] }],
  });
  switch (family) {
    case 'plain':
      return { labels: { 'my-label': label } };
    case 'zone-spread':
      return { labels: { 'my-label': label }, rules: spread(zone) };
    case 'host-spread':
      return { labels: { 'my-label': label }, rules: spread(host) };
    case 'zone-affinity':
      return {
        labels: { 'my-affinity': label },
        rules: { podAffinity: [{ topologyKey: zone, selector: [equals('my-affinity', label)] }] },
      };
    case 'host-anti-affinity':
      return {
        labels: { app: 'nginx' },
        rules: { podAntiAffinity: [{ topologyKey: host, selector: [equals('app', 'nginx')] }] },
      };
    case 'preferences':
      return {
        labels: { app: 'nginx' },
        rules: {
          nodePreferences: zones.slice(0, 2).map((value, index) => ({
            weight: 50 - index,
            term: { labels: [equals(zone, value)], fields: [] },
          })),
          podPreferences: [
            { weight: -100, term: { topologyKey: host, selector: [equals('app', 'nginx')] } },
            { weight: -10, term: { topologyKey: zone, selector: [equals('app', 'nginx')] } },
          ],
          spread: [{ topologyKey: zone, maxSkew: 1, hard: false, selector: [equals('app', 'nginx')] }],
        },
      };
  }
}

/** Waiting pods of the given families and machines that are off, in three zones. */
export function workload(options: WorkloadOptions): Snapshot {
  const { pods, machines, kinds, seed = 1, manySizes = false, families = diverse } = options;
  const random = createRandom(seed);
  const size = (): Pod['requests'] =>
    manySizes
      ? { cpu: 100 + Math.floor(random() * 1400), memory: Math.floor((100 + random() * 4000) * Mi) }
      : {
          cpu: pick([100, 250, 500, 1000, 1500], random),
          memory: pick([100, 256, 512, 1024, 2048, 4096], random) * Mi,
        };
  const equal = families.length === 1 && families[0] === 'preferences';
  const pod = (index: number): Pod => ({
    namespace: 'default',
    name: `pod-${index}`,
    uid: `pod-${index}`,
    finished: false,
    unschedulable: 'no nodes',
    terminating: false,
    belongsToNode: false,
    movable: true,
    nodeSelector: {},
    tolerations: [],
    createdAt: now - hour,
    requests: equal ? { cpu: 500, memory: Gi } : size(),
    ...rulesOf(families[index % families.length] as Family, random),
  });
  const shapes = Array.from({ length: kinds }, (_, index) => {
    const cores = kinds === 1 ? 16 : 4 + Math.floor(random() * 61);
    const perCore = pick([2, 4, 8], random);
    return {
      cpu: cores * 1000 + index,
      memory: cores * perCore * Gi,
      watts: 40 + cores * (3 + random() * 3),
    };
  });
  return {
    machines: Array.from({ length: machines }, (_, index): Machine => {
      const { watts, ...resources } = shapes[index % kinds] as (typeof shapes)[number];
      const where = zones[Math.floor(index / kinds) % zones.length] as string;
      return {
        spec: {
          name: `machine-${index}`,
          pool: 'workers',
          powerInterface: 'redfish',
          resources,
          watts: { idle: watts / 2, max: watts },
          zone: where,
          labels: { [zone]: where },
        },
        status: {
          state: 'off',
          stateSince: now - hour,
          powerState: 'off',
          bmcReachable: true,
          attempts: 0,
        },
        metrics: {},
      };
    }),
    pools: [{ ...defaultPool, name: 'workers' }],
    settings: defaultSettings,
    cluster: { nodes: [], pods: Array.from({ length: pods }, (_, index) => pod(index)) },
  };
}
