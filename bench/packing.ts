import { readFileSync } from 'node:fs';
import type { Pod } from '../shared/core/cluster/cluster.ts';
import type { Resources } from '../shared/core/cluster/resources.ts';
import { decide } from '../shared/core/decide/decide.ts';
import { type Machine, newStatus } from '../shared/core/machine/machine.ts';
import { wattsAt } from '../shared/core/scale-up/policies.ts';
import { defaultPool, defaultSettings } from '../shared/core/settings.ts';
import type { Table } from './table.ts';

const now = 1_800_000_000_000;
const MiB = 2 ** 20;
/** Pods ask for parts of GPUs here: thousandths of all GPUs of a machine together. */
const gpuMilli = 'example.com/gpu-milli';

/** The trace knows no watts. Assumed: 2 W per core idle and 6 at most, and for every GPU as its data sheet has it. */
const gpuWatts: Readonly<Record<string, readonly [number, number]>> = {
  T4: [10, 70],
  P100: [25, 250],
  V100M16: [25, 300],
  V100M32: [25, 300],
  G2: [20, 150],
  G3: [30, 300],
  A10: [15, 150],
};

/** So many pods that arrived one after the other are taken as if they ran together: the whole trace, part by part. */
const podsPerPart = 500;

/** Pods of a GPU cluster's trace put onto its machines from scratch, all of them off. */
export async function benchPacking(): Promise<Table> {
  const machines = readMachines();
  const all = readRows('openb-pods.csv').toSorted((a, b) => num(a, 3) - num(b, 3));
  const totals = new Map<string, { machines: number; watts: number; unserved: number }>();
  for (let from = 0; from < all.length; from += podsPerPart) {
    const alive = all.slice(from, from + podsPerPart).map(toPod);
    for (const [name, pack] of Object.entries(ways)) {
      const used = pack(machines, alive);
      const sum = totals.get(name) ?? { machines: 0, watts: 0, unserved: 0 };
      totals.set(name, {
        machines: sum.machines + used.length,
        watts: sum.watts + used.reduce((watts, bin) => watts + drawn(bin), 0),
        unserved: sum.unserved + alive.length - used.reduce((count, bin) => count + bin.pods, 0),
      });
    }
  }
  const ours = totals.get('ours')?.watts ?? 1;
  return {
    columns: ['', 'machines', 'kW', '× ours', 'pods without a place'],
    rows: [...totals].map(([name, { machines: count, watts, unserved }]) => [
      name,
      String(count),
      (watts / 1000).toFixed(1),
      (watts / ours).toFixed(2),
      String(unserved),
    ]),
    notes: [
      `The openb trace (Alibaba: ${all.length.toLocaleString('en')} pods, ${machines.length.toLocaleString('en')} machines), ${podsPerPart} pods at a time as if they ran together; sums over all of it. Watts are assumed (see bench/packing.ts): the trace has none.`,
      'first-fit-decreasing: pods by cpu, machines in the order of the inventory. least-waste: the kind of machine that is left with the least unused, again and again.',
    ],
  };
}

interface Bin {
  readonly machine: Machine;
  readonly used: Record<string, number>;
  pods: number;
}

const emptyBin = (machine: Machine): Bin => ({ machine, used: {}, pods: 0 });

function put({ machine, used }: Bin, { requests }: Pod, bin: Bin): boolean {
  for (const [name, amount] of Object.entries(requests))
    if (amount > 0 && (used[name] ?? 0) + amount > (machine.spec.resources[name] ?? 0)) return false;
  for (const [name, amount] of Object.entries(requests)) used[name] = (used[name] ?? 0) + amount;
  bin.pods += 1;
  return true;
}

const drawn = ({ machine: { spec }, used }: Bin): number =>
  wattsAt(spec, (used.cpu ?? 0) / (spec.resources.cpu || 1), 0);

const largestFirst = (pods: readonly Pod[]): Pod[] =>
  pods.toSorted((a, b) => (b.requests.cpu ?? 0) - (a.requests.cpu ?? 0));

const ways: Readonly<Record<string, (machines: readonly Machine[], pods: readonly Pod[]) => Bin[]>> = {
  ours(machines, pods) {
    const decision = decide(
      {
        machines,
        pools: [{ ...defaultPool, name: 'all' }],
        settings: defaultSettings,
        cluster: { nodes: [], pods },
      },
      now,
    );
    const bins = new Map(machines.map((machine) => [machine.spec.name, emptyBin(machine)]));
    const byName = new Map(pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    for (const { pods: names, on } of decision.assignments())
      for (const name of names) {
        const bin = bins.get(on);
        const pod = byName.get(name);
        if (!bin || !pod || !put(bin, pod, bin)) throw new Error(`${name} does not fit on ${on}`);
      }
    const chosen = new Set(decision.intents.map(({ machine }) => machine));
    return [...bins.values()].filter(({ machine }) => chosen.has(machine.spec.name));
  },
  'first-fit-decreasing'(machines, pods) {
    const open: Bin[] = [];
    const rest = [...machines];
    for (const pod of largestFirst(pods)) {
      if (open.some((bin) => put(bin, pod, bin))) continue;
      const index = rest.findIndex((machine) => put(emptyBin(machine), pod, emptyBin(machine)));
      const [machine] = index < 0 ? [] : rest.splice(index, 1);
      if (!machine) continue;
      const bin = emptyBin(machine);
      put(bin, pod, bin);
      open.push(bin);
    }
    return open;
  },
  'least-waste'(machines, pods) {
    const kinds = new Map<string, Machine[]>();
    for (const machine of machines) {
      const key = JSON.stringify(machine.spec.resources);
      kinds.set(key, [...(kinds.get(key) ?? []), machine]);
    }
    const bins: Bin[] = [];
    let rest = largestFirst(pods);
    for (;;) {
      let best: { bin: Bin; left: Pod[]; waste: number; kind: string } | undefined;
      for (const [kind, [machine]] of kinds) {
        if (!machine) continue;
        const bin = emptyBin(machine);
        const left = rest.filter((pod) => !put(bin, pod, bin));
        const { cpu = 1, memory = 1 } = machine.spec.resources;
        const waste = 1 - ((bin.used.cpu ?? 0) / cpu + (bin.used.memory ?? 0) / memory) / 2;
        if (bin.pods > 0 && (!best || waste < best.waste)) best = { bin, left, waste, kind };
      }
      if (!best) return bins;
      bins.push(best.bin);
      rest = best.left;
      kinds.get(best.kind)?.shift();
    }
  },
};

function readMachines(): Machine[] {
  return readRows('openb-nodes.csv').flatMap((row, kind) => {
    const [count, cpu, memory, gpus] = [num(row, 0), num(row, 1), num(row, 2) * MiB, num(row, 3)];
    const [idle, most] = gpuWatts[row[4] ?? ''] ?? [0, 0];
    const resources: Resources = { cpu, memory, pods: 110, ...(gpus > 0 && { [gpuMilli]: gpus * 1000 }) };
    const watts = { idle: 40 + cpu / 500 + gpus * idle, max: 40 + (cpu * 6) / 1000 + gpus * most };
    return Array.from(
      { length: count },
      (_, index): Machine => ({
        spec: { name: `k${kind}-${index}`, pool: 'all', powerInterface: 'redfish', resources, watts },
        status: { ...newStatus(now), powerState: 'off' },
        metrics: {},
      }),
    );
  });
}

function toPod(row: readonly string[], index: number): Pod {
  const gpu = num(row, 2);
  return {
    namespace: 'trace',
    name: `p${index}`,
    uid: `p${index}`,
    finished: false,
    unschedulable: 'no node',
    terminating: false,
    belongsToNode: false,
    movable: true,
    requests: { cpu: num(row, 0), memory: num(row, 1) * MiB, ...(gpu > 0 && { [gpuMilli]: gpu }) },
    nodeSelector: {},
    tolerations: [],
    createdAt: now - 3_600_000,
  };
}

const num = (row: readonly string[], column: number): number => Number(row[column]);

const readRows = (file: string): string[][] =>
  readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
