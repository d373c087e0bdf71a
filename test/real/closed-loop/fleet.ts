import type { V1Node, V1Pod } from '@kubernetes/client-node';
import type { Labels, Taint } from '../../../shared/core/cluster/cluster.ts';
import type { Machine, MachineSpec } from '../../../shared/core/machine/machine.ts';
import { defaultPool, type PoolSpec } from '../../../shared/core/settings.ts';
import { type Daemon, daemonPodObject, gpu, hostLabel, joiningNode, zoneLabel } from './objects.ts';

export const zones = ['zone-a', 'zone-b', 'zone-c'] as const;
const Mi = 2 ** 20;
const hour = 3_600_000;

interface Model {
  readonly pool: string;
  readonly cpu: number;
  readonly memoryGi: number;
  readonly gpus: number;
  readonly labels: Labels;
  readonly watts: { readonly idle: number; readonly max: number };
}

export const models = {
  small: {
    pool: 'general',
    cpu: 8000,
    memoryGi: 32,
    gpus: 0,
    labels: { disk: 'ssd' },
    watts: { idle: 60, max: 150 },
  },
  medium: {
    pool: 'general',
    cpu: 16_000,
    memoryGi: 64,
    gpus: 0,
    labels: { disk: 'nvme' },
    watts: { idle: 90, max: 260 },
  },
  large: {
    pool: 'dense',
    cpu: 48_000,
    memoryGi: 256,
    gpus: 0,
    labels: { disk: 'nvme' },
    watts: { idle: 180, max: 600 },
  },
  gpu: {
    pool: 'gpu',
    cpu: 32_000,
    memoryGi: 128,
    gpus: 4,
    labels: { disk: 'nvme' },
    watts: { idle: 300, max: 1500 },
  },
} as const satisfies Record<string, Model>;

export type ModelName = keyof typeof models;

const gpuTaint: Taint = { key: gpu, value: 'present', effect: 'NoSchedule' };

const pool = (name: string, labels: Labels, taints: readonly Taint[] = []): PoolSpec => ({
  ...defaultPool,
  name,
  template: { architecture: 'amd64', labels, taints },
  scaleDown: { ...defaultPool.scaleDown, maxConcurrent: 0 },
});

export const pools: readonly PoolSpec[] = [
  pool('general', { tier: 'general' }),
  pool('dense', { tier: 'dense' }),
  pool('gpu', { tier: 'gpu', accelerator: 'a100' }, [gpuTaint]),
];

export interface OwnMachine {
  readonly spec: MachineSpec;
  readonly model: ModelName;
}

export function describeMachine(name: string, modelName: ModelName, zone: string): OwnMachine {
  const model = models[modelName];
  return {
    model: modelName,
    spec: {
      name,
      pool: model.pool,
      powerInterface: 'redfish',
      zone,
      rack: `${zone}-${name.length % 2}`,
      resources: {
        cpu: model.cpu,
        memory: model.memoryGi * 1024 * Mi,
        pods: 110,
        ...(model.gpus > 0 && { [gpu]: model.gpus }),
      },
      watts: model.watts,
      labels: { ...model.labels, [zoneLabel]: zone },
    },
  };
}

/** `serving: 'lately'` has just joined; 'long' has been idle for an hour, as far as is remembered. */
export function machineState(spec: MachineSpec, serving: 'off' | 'lately' | 'long', now: number): Machine {
  const since = serving === 'lately' ? now : now - 2 * hour;
  if (serving === 'off')
    return {
      spec,
      status: { state: 'off', stateSince: since, powerState: 'off', bmcReachable: true, attempts: 0 },
      metrics: {},
    };
  return {
    spec,
    status: {
      state: 'ready',
      stateSince: since,
      powerState: 'on',
      bmcReachable: true,
      attempts: 0,
      kubernetesNode: spec.name,
      nodeReady: true,
      provenAt: since,
      joinTime: since,
    },
    metrics: serving === 'long' ? { idleSince: now - hour } : {},
  };
}

/** The node that the machine becomes, as its kubelet and our own preparation leave it. */
export function nodeOf({ spec }: OwnMachine): V1Node {
  const template = pools.find(({ name }) => name === spec.pool)?.template;
  const { cpu = 0, memory = 0, pods = 0, [gpu]: gpus } = spec.resources;
  return joiningNode(
    spec.name,
    {
      [hostLabel]: spec.name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      ...template?.labels,
      ...spec.labels,
      'bamel.dev/machine': spec.name,
      'bamel.dev/pool': spec.pool,
    },
    template?.taints ?? [],
    {
      cpu: `${cpu}m`,
      memory: `${memory / Mi}Mi`,
      pods: String(pods),
      ...(gpus && { [gpu]: String(gpus) }),
    },
  );
}

/** What the DaemonSet controller puts on the machine's node. */
export const daemonPodsOn = (daemons: readonly Daemon[], machine: OwnMachine): V1Pod[] =>
  daemons
    .filter((daemon) => runsOn(daemon, machine))
    .map((daemon) => daemonPodObject(daemon, machine.spec.name));

const runsOn = ({ everywhere, nodeSelector }: Daemon, { model, spec }: OwnMachine): boolean =>
  (everywhere || model !== 'gpu') &&
  Object.entries(nodeSelector).every(([key, value]) => spec.labels?.[key] === value);
