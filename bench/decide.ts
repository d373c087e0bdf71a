import { decide } from '../shared/core/decide/decide.ts';
import type { Snapshot } from '../shared/core/decide/snapshot.ts';
import { now, scenarios } from './clusters.ts';
import type { Table } from './table.ts';
import { type WorkloadOptions, workload } from './workloads.ts';

interface Row {
  readonly name: string;
  readonly make: (scale: number) => Snapshot;
  readonly target: number;
  /** Pods that had to be decided about. */
  readonly pods: (snapshot: Snapshot) => number;
  /** Seconds that another autoscaler's own benchmark takes for the like of it on two cores. */
  readonly other?: { readonly name: string; readonly seconds: number };
}

const waiting = ({ cluster }: Snapshot): number =>
  cluster.pods.filter(({ node }) => node === undefined).length;
const all = ({ cluster }: Snapshot): number => cluster.pods.length;

const rows: readonly Row[] = [
  {
    name: '(a) 10k pods of a mix, 1k nodes × 30, 2k off',
    make: scenarios.mixed,
    target: 0.5,
    pods: waiting,
    other: { name: 'Karpenter', seconds: 63 },
  },
  {
    name: '(b) 50k equal pods → 1k machines',
    make: scenarios.identical,
    target: 0.4,
    pods: waiting,
    other: { name: 'Cluster Autoscaler', seconds: 43.8 },
  },
  {
    name: '(c) 2k nodes × 40 pods at 40 %, most can go',
    make: (scale) => lavish(scenarios.underused(scale)),
    target: 0.2,
    pods: all,
    other: { name: 'Cluster Autoscaler', seconds: 18.9 },
  },
  { name: '(d) 10k nodes, 100k pods, 10k waiting', make: scenarios.huge, target: 2, pods: all },
];

/** The fewest machines that could do, by volume and by pods that need a node of their own. */
function leastMachines({ machines, cluster }: Snapshot): number {
  const waiting = cluster.pods.filter(({ node }) => node === undefined);
  const byVolume = ['cpu', 'memory'].map((name) => {
    const sizes = machines.map(({ spec }) => spec.resources[name] ?? 0).sort((a, b) => b - a);
    let missing = waiting.reduce((sum, { requests }) => sum + (requests[name] ?? 0), 0);
    let count = 0;
    for (; missing > 0 && count < sizes.length; count += 1) missing -= sizes[count] ?? 0;
    return count;
  });
  const alone = waiting.filter(({ rules }) => rules?.podAntiAffinity).length;
  return Math.max(alone, ...byVolume);
}

const diverse = (pods: number, options: Partial<WorkloadOptions> = {}) =>
  workload({ pods, machines: Math.max(6_000, Math.round(pods * 0.6)), kinds: 400, ...options });

/** Shapes of Karpenter 1.15's own benchmark, and what that takes for them on two cores. */
const workloads: readonly WorkloadRow[] = [
  { name: '10 anti-affine, 20 equal machines', make: (seed) => antiAffine(10, 20, 1, seed) },
  { name: '100 anti-affine, 200 equal machines', make: (seed) => antiAffine(100, 200, 1, seed) },
  { name: '500 anti-affine, 1,000 of 5 kinds', make: (seed) => antiAffine(500, 1_000, 5, seed) },
  { name: '1,000 diverse', make: (seed) => diverse(1_000, { seed }), target: 0.05, karpenter: 5.25 },
  { name: '10,000 diverse', make: (seed) => diverse(10_000, { seed }), target: 0.6, karpenter: 63.2 },
  {
    name: '10,000 diverse, every size its own',
    make: (seed) => diverse(10_000, { seed, manySizes: true }),
    target: 0.6,
  },
  {
    name: '20,000 diverse',
    make: (seed) => diverse(20_000, { seed }),
    target: 1.3,
    twice: '10,000 diverse',
  },
  { name: '40,000 diverse', make: (seed) => diverse(40_000, { seed }), twice: '20,000 diverse' },
  {
    name: '10,000 diverse, 800 kinds',
    make: (seed) => diverse(10_000, { seed, kinds: 800 }),
    twice: '10,000 diverse',
  },
  {
    name: '2,000 with zone spread, random selectors',
    make: (seed) => diverse(2_000, { seed, families: ['zone-spread'] }),
  },
  {
    name: '4,000 equal with preferences',
    make: (seed) => diverse(4_000, { seed, families: ['preferences'] }),
    target: 0.3,
    karpenter: 89.7,
  },
];

interface WorkloadRow {
  readonly name: string;
  readonly make: (seed: number) => Snapshot;
  readonly target?: number;
  /** Seconds. */
  readonly karpenter?: number;
  /** The row that this one has twice the pods, or the kinds of machines, of. */
  readonly twice?: string;
}

const antiAffine = (pods: number, machines: number, kinds: number, seed: number): Snapshot =>
  workload({ pods, machines, kinds, seed, families: ['host-anti-affinity'] });

const seeds = [1, 2, 3];

/** One decision for pods that nobody runs yet, over several seeds. */
export async function benchWorkloads(): Promise<Table> {
  const cpuOf = new Map<string, number>();
  return {
    columns: [
      '',
      'cpu',
      'target',
      '× half the size',
      'pods/s',
      'on',
      'at least',
      'unmet',
      'kW',
      'heap',
      '× Karpenter',
    ],
    rows: workloads.map((row) => measureWorkload(row, cpuOf)),
    notes: [
      'Median over seeds 1 to 3 of the median of 5 decisions after a first one; machines, watts and unmet pods are sums over the seeds. At least: the fewest machines by volume, or one per pod that shares its node with none like it.',
      'Diverse: a fifth each plain, zone spread, host spread, zone self-affinity, host anti-affinity; 400 kinds of machines in 3 zones. Karpenter: its own benchmark, 1.15, on two cores of the same kind; not the same pods or machines.',
    ],
  };
}

function measureWorkload(
  { name, make, target, karpenter, twice }: WorkloadRow,
  cpuOf: Map<string, number>,
): string[] {
  const measured = seeds.map((seed) => {
    const snapshot = make(seed);
    const timing = time(snapshot);
    const { intents, record } = timing.decision;
    const on = new Set(intents.filter(({ kind }) => kind === 'power-on').map(({ machine }) => machine));
    return {
      ...timing,
      pods: waiting(snapshot),
      on: on.size,
      least: leastMachines(snapshot),
      unmet: record.unmet.reduce((sum, { pods }) => sum + pods, 0),
      watts: snapshot.machines.reduce(
        (sum, { spec }) => sum + (on.has(spec.name) ? (spec.watts?.max ?? 0) : 0),
        0,
      ),
    };
  });
  const sum = (of: (one: (typeof measured)[number]) => number): number =>
    measured.reduce((total, one) => total + of(one), 0);
  const cpu = median(measured.map(({ seconds }) => seconds));
  cpuOf.set(name, cpu);
  const half = twice === undefined ? undefined : cpuOf.get(twice);
  return [
    name,
    `${cpu.toFixed(3)} s`,
    target === undefined ? '–' : `${target} s`,
    half === undefined ? '–' : (cpu / half).toFixed(1),
    Math.round((measured[0]?.pods ?? 0) / cpu).toLocaleString('en'),
    String(sum(({ on }) => on)),
    String(sum(({ least }) => least)),
    String(sum(({ unmet }) => unmet)),
    (sum(({ watts }) => watts) / 1000).toFixed(1),
    `${Math.max(...measured.map(({ heapMB }) => heapMB)).toFixed(0)} MB`,
    karpenter === undefined ? '–' : `${Math.round(karpenter / cpu)} × (${karpenter} s)`,
  ];
}

/** Nothing holds a machine back that is used less than half. */
const lavish = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  settings: { ...snapshot.settings, scaleDownThreshold: 0.5 },
  pools: snapshot.pools.map((pool) => ({ ...pool, scaleDown: { ...pool.scaleDown, maxConcurrent: 0 } })),
});

/** One decision from a snapshot to its record, on one core, when warm. */
export async function benchDecide(): Promise<Table> {
  return {
    columns: [
      '',
      'cpu',
      'wall',
      'target',
      'pods/s',
      'on / off',
      'unmet',
      'heap',
      '× at twice the size',
      'others',
    ],
    rows: rows.map(measure),
    notes: [
      'Median of 5 after a first one; cpu is the time of the deciding thread, which a busy machine disturbs less. Heap: in use after the decision, its snapshot included.',
      'Others: what their own benchmarks print on two cores of the same kind, with a fake API as here: Karpenter 1.15 for 10,000 diverse pods, Cluster Autoscaler RunOnce for the like of (b) and (c). Not the same pods or machines.',
    ],
  };
}

function measure({ name, make, target, pods, other }: Row): string[] {
  const snapshot = make(1);
  const { seconds, wall, decision, heapMB } = time(snapshot);
  const twice = time(make(2), 3).seconds;
  const count = (kind: string): number => decision.intents.filter((intent) => intent.kind === kind).length;
  const unmet = decision.record.unmet.reduce((sum, each) => sum + each.pods, 0);
  return [
    name,
    `${seconds.toFixed(3)} s`,
    `${wall.toFixed(3)} s`,
    `${target} s`,
    Math.round(pods(snapshot) / seconds).toLocaleString('en'),
    `${count('power-on')} / ${count('drain')}`,
    String(unmet),
    `${heapMB.toFixed(0)} MB`,
    (twice / seconds).toFixed(1),
    other ? `${Math.round(other.seconds / seconds)} × ${other.name} (${other.seconds} s)` : '–',
  ];
}

interface Timing {
  readonly seconds: number;
  readonly wall: number;
  readonly decision: ReturnType<typeof decide>;
  readonly heapMB: number;
}

function time(snapshot: Snapshot, repeats = 5): Timing {
  let decision = decide(snapshot, now);
  const cpu: number[] = [];
  const wall: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const start = performance.now();
    const before = process.threadCpuUsage();
    decision = decide(snapshot, now);
    const { user, system } = process.threadCpuUsage(before);
    cpu.push((user + system) / 1e6);
    wall.push((performance.now() - start) / 1000);
  }
  return {
    seconds: median(cpu),
    wall: median(wall),
    decision,
    heapMB: heapInUse(),
  };
}

/** What is in use; garbage does not count where it can be collected (node --expose-gc). */
function heapInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
