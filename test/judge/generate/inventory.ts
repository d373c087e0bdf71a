import type { Node, Taint } from '../../../shared/core/cluster/cluster.ts';
import type {
  Machine,
  MachineMetrics,
  MachineSpec,
  MachineStatus,
} from '../../../shared/core/machine/machine.ts';
import type { Random } from './random.ts';
import { Gi, gpu, host, zone, zones } from './templates.ts';

export const minute = 60_000;

export interface Inventory {
  readonly family: string;
  readonly now: number;
  readonly pools: readonly string[];
  /** How many kinds of machines there are; 0: every one is different. */
  readonly kinds: number;
}

type Kind = Pick<MachineSpec, 'resources' | 'labels' | 'watts' | 'taints'>;

const taintSets: readonly (readonly Taint[])[] = [
  [],
  [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }],
  [{ key: 'dedicated', value: 'web', effect: 'NoExecute' }],
  [{ key: 'slow', effect: 'PreferNoSchedule' }],
];

function kindOf({ family }: Inventory, random: Random, index: number, distinct: boolean): Kind {
  const cores = random.pick([2, 4, 8, 16, 32, 64]);
  const cpu = cores * 1000 + (distinct ? index % 997 : 0);
  const mixed = family === 'mixed';
  const gpus = (family === 'gpu' || mixed) && random.chance(0.4) ? random.pick([1, 2, 4, 8]) : 0;
  const max = 50 + cores * random.int(4, 12);
  return {
    resources: {
      cpu,
      memory: cores * random.pick([2, 4, 8]) * Gi,
      ...(random.chance(0.3) && { pods: random.pick([4, 20, 110, 250]) }),
      ...(gpus > 0 && { [gpu]: gpus }),
    },
    labels: {
      [zone]: random.pick(zones),
      disk: random.pick(['ssd', 'hdd']),
      generation: `${random.int(1, 4)}`,
      ...(random.chance(0.2) && { special: 'yes' }),
    },
    ...(random.chance(0.7) && { watts: { idle: Math.round(max / 2), max } }),
    ...((family === 'taints' || mixed) && { taints: random.pick(taintSets) }),
  };
}

/** What keeps some machines from being powered on. */
const troubles: readonly {
  readonly spec?: Partial<MachineSpec>;
  readonly status?: Partial<MachineStatus>;
  readonly metrics?: MachineMetrics;
}[] = [
  { status: { bmcReachable: false } },
  { status: { powerState: 'unknown' } },
  { spec: { powerState: 'off' } },
  { status: { state: 'maintenance' }, spec: { maintenance: true } },
  { status: { state: 'error', lastError: { code: 'never-joined', message: 'no Ready node', at: 0 } } },
  { metrics: { health: 'critical', problems: ['a fan'] } },
];

export function offMachines(inventory: Inventory, random: Random, count: number, prefix = 'off'): Machine[] {
  const { now, pools, kinds } = inventory;
  const known = Array.from({ length: kinds }, (_, index) => kindOf(inventory, random, index, false));
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds > 0 ? (known[index % kinds] as Kind) : kindOf(inventory, random, index, true);
    const trouble = prefix === 'off' && random.chance(0.08) ? random.pick(troubles) : undefined;
    return {
      spec: {
        name: `${prefix}-${index}`,
        pool: pools[index % pools.length] ?? 'workers',
        powerInterface: 'redfish',
        rack: `rack-${Math.floor(index / 10)}`,
        powerCircuit: `circuit-${index % 4}`,
        ...kind,
        ...trouble?.spec,
      },
      status: {
        state: 'off',
        stateSince: now - 600 * minute,
        powerState: 'off',
        bmcReachable: true,
        attempts: 0,
        provenAt: now - 900 * minute,
        ...trouble?.status,
      },
      metrics: trouble?.metrics ?? {},
    };
  });
}

export const serving = ({ spec, status, metrics }: Machine, now: number): Machine => ({
  spec,
  status: {
    ...status,
    state: 'ready',
    powerState: 'on',
    kubernetesNode: spec.name,
    nodeReady: true,
    joinTime: now - 500 * minute,
  },
  metrics: { ...metrics, idleSince: now - 120 * minute },
});

export const nodeOf = ({ spec }: Machine): Node => ({
  name: spec.name,
  ready: true,
  unschedulable: false,
  labels: {
    ...spec.labels,
    [host]: spec.name,
    'kubernetes.io/os': 'linux',
    'bamel.dev/machine': spec.name,
    'bamel.dev/pool': spec.pool,
  },
  annotations: {},
  taints: spec.taints ?? [],
  allocatable: { pods: 110, ...spec.resources },
});
