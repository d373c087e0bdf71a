import type { MachineInput } from '../lab/rack/description.ts';

export interface Workload {
  readonly name: string;
  readonly requests: Readonly<Record<string, string>>;
  /** The pool whose machines it runs on. */
  readonly pool: string;
}

/** Something that people, or machines, do after a while. */
export interface Scene {
  readonly afterMs: number;
  readonly caption: string;
  /** A workload is scaled to this share of what its pool holds, or to so many pods. */
  readonly scale?: { readonly workload: string; readonly share?: number; readonly replicas?: number };
  /** The BMC of a machine of this pool that is off says yes from now on, and does nothing. */
  readonly breaks?: string;
  /** What was broken is mended. */
  readonly mends?: boolean;
}

export interface Pool {
  readonly name: string;
  readonly machines: readonly MachineInput[];
  /** How many pods of its workload one machine holds. */
  readonly holds: number;
  readonly minNodes?: number;
}

/** A rack and the people who use it. Times are for speed 20. */
export interface Scenario {
  readonly says: string;
  pools(machines: number): readonly Pool[];
  readonly workloads: readonly Workload[];
  readonly scenes: readonly Scene[];
}

const mini = { cpu: 8, memory: '32Gi', watts: { idle: 12, max: 65 }, bootSeconds: 60 };
const server = { cpu: 32, memory: '128Gi', watts: { idle: 85, max: 320 }, bootSeconds: 80 };
const tower = { cpu: 32, memory: '256Gi', gpu: 2, watts: { idle: 90, max: 410 }, bootSeconds: 90 };

const perRack = 6;

interface Kind extends Omit<MachineInput, 'name' | 'pool' | 'rack' | 'zone'> {
  readonly name: string;
  readonly pool: string;
  readonly zone: string;
}

const rackful = (count: number, { name, pool, zone, ...like }: Kind): MachineInput[] =>
  Array.from({ length: count }, (_, index) => ({
    ...like,
    name: `${name}-${index + 1}`,
    pool,
    zone,
    rack: `${pool}-${Math.floor(index / perRack) + 1}`,
    labels: { tier: pool },
  }));

const day: Scenario = {
  says: 'a day of a small data centre in two minutes: web, reports and training, and a BMC that fails',
  pools(machines) {
    const gpu = Math.max(1, Math.round(machines * 0.2));
    const batch = Math.max(1, Math.round(machines * 0.3));
    const web = Math.max(1, machines - gpu - batch);
    return [
      {
        name: 'web',
        machines: rackful(web, { ...mini, name: 'mini', pool: 'web', zone: 'hall-a' }),
        holds: 4,
        minNodes: 1,
      },
      {
        name: 'batch',
        machines: rackful(batch, { ...server, name: 'server', pool: 'batch', zone: 'hall-b' }),
        holds: 4,
      },
      {
        name: 'gpu',
        machines: rackful(gpu, { ...tower, name: 'tower', pool: 'gpu', zone: 'hall-b' }),
        holds: 2,
      },
    ];
  },
  workloads: [
    { name: 'web', requests: { cpu: '2', memory: '4Gi' }, pool: 'web' },
    { name: 'reports', requests: { cpu: '8', memory: '24Gi' }, pool: 'batch' },
    { name: 'train', requests: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' }, pool: 'gpu' },
  ],
  scenes: [
    {
      afterMs: 500,
      caption: '06:00 – the first visitors: web runs on a few machines',
      scale: { workload: 'web', share: 0.2 },
    },
    {
      afterMs: 12_000,
      caption: '09:00 – the working day begins: web doubles',
      scale: { workload: 'web', share: 0.45 },
    },
    {
      afterMs: 11_000,
      caption: '11:00 – reports are due: the batch pool wakes up',
      scale: { workload: 'reports', share: 0.6 },
    },
    {
      afterMs: 11_000,
      caption: '13:00 – a training run asks for GPUs',
      scale: { workload: 'train', share: 0.7 },
    },
    {
      afterMs: 10_000,
      caption: '15:00 – a BMC of the web pool breaks: it says yes and does nothing',
      breaks: 'web',
    },
    {
      afterMs: 2_000,
      caption: '15:20 – rush hour: web needs nearly every machine; the broken one will be quarantined',
      scale: { workload: 'web', share: 0.85 },
    },
    {
      afterMs: 22_000,
      caption: '18:00 – reports are done: what ran them is drained and powered off',
      scale: { workload: 'reports', share: 0 },
    },
    {
      afterMs: 10_000,
      caption: '20:00 – the evening is quiet: web shrinks',
      scale: { workload: 'web', share: 0.3 },
    },
    {
      afterMs: 10_000,
      caption: '22:00 – the training run has ended',
      scale: { workload: 'train', share: 0 },
    },
    { afterMs: 6_000, caption: '23:00 – somebody mends the broken BMC', mends: true },
    {
      afterMs: 12_000,
      caption: '00:00 – night: one machine keeps watch',
      scale: { workload: 'web', share: 0 },
    },
    { afterMs: 13_000, caption: '05:00 – a new day begins' },
  ],
};

const homelab: Scenario = {
  says: 'a closet at home: small machines and one with GPUs',
  pools: (machines) => [
    {
      name: 'closet',
      machines: [
        ...rackful(Math.max(2, machines - 1), { ...mini, name: 'mini', pool: 'closet', zone: 'home' }),
        ...rackful(1, { ...tower, name: 'tower', pool: 'closet', zone: 'home' }),
      ],
      holds: 3,
    },
  ],
  workloads: [
    { name: 'web', requests: { cpu: '2', memory: '4Gi' }, pool: 'closet' },
    { name: 'train', requests: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' }, pool: 'closet' },
  ],
  scenes: [
    {
      afterMs: 500,
      caption: 'morning: somebody scales web to 3 replicas',
      scale: { workload: 'web', replicas: 3 },
    },
    {
      afterMs: 7_000,
      caption: 'noon: a training run asks for a GPU',
      scale: { workload: 'train', replicas: 1 },
    },
    {
      afterMs: 7_000,
      caption: 'afternoon: the training run has ended',
      scale: { workload: 'train', replicas: 0 },
    },
    { afterMs: 8_000, caption: 'rush hour: web is scaled to 6', scale: { workload: 'web', replicas: 6 } },
    { afterMs: 10_000, caption: 'evening: web is scaled to 2', scale: { workload: 'web', replicas: 2 } },
    { afterMs: 12_000, caption: 'night: nobody needs web', scale: { workload: 'web', replicas: 0 } },
    { afterMs: 15_000, caption: 'a new day begins' },
  ],
};

const burst: Scenario = {
  says: 'one pool: everything is needed at once, and then nothing is',
  pools: (machines) => [
    {
      name: 'rack',
      machines: rackful(machines, { ...server, name: 'server', pool: 'rack', zone: 'hall' }),
      holds: 4,
    },
  ],
  workloads: [{ name: 'job', requests: { cpu: '8', memory: '24Gi' }, pool: 'rack' }],
  scenes: [
    { afterMs: 500, caption: 'every machine is needed at once', scale: { workload: 'job', share: 1 } },
    { afterMs: 30_000, caption: 'and nobody needs them any more', scale: { workload: 'job', share: 0 } },
    { afterMs: 30_000, caption: 'again' },
  ],
};

/** What can be played. */
export const scenarios = { day, homelab, burst } as const satisfies Record<string, Scenario>;

/** How many machines there are unless somebody says. */
export const defaultMachines = { day: 16, homelab: 3, burst: 12 } as const satisfies Record<
  keyof typeof scenarios,
  number
>;
