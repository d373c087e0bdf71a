import { decide } from '../shared/core/decide.ts';
import type { Snapshot } from '../shared/core/snapshot.ts';
import { now, scenarios } from './clusters.ts';
import type { Table } from './table.ts';

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
      'Unmet in (a): pods with a hard zone spread; of the three zones one is full and has no machine that is off.',
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
    heapMB: process.memoryUsage().heapUsed / 2 ** 20,
  };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
