import type { Node, Pod } from '../../../shared/core/cluster/cluster.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine, MachineSpec, MachineStatus } from '../../../shared/core/machine/machine.ts';
import type { Operation } from '../../../shared/core/machine/operation.ts';
import { defaultPool, defaultSettings, type PoolSpec, type Settings } from '../../../shared/core/settings.ts';

/** The time of every test that does not say otherwise. */
export const now = 10_000_000;
export const minute = 60_000;
export const Gi = 2 ** 30;

interface MachineParts {
  readonly spec?: Partial<MachineSpec>;
  readonly status?: Partial<MachineStatus>;
  readonly metrics?: Machine['metrics'];
}

/** A machine of 4 cpu and 16 Gi that has been off for an hour, and is known to be. */
export function machine(name: string, { spec, status, metrics }: MachineParts = {}): Machine {
  return {
    spec: {
      name,
      pool: 'workers',
      powerInterface: 'redfish',
      resources: { cpu: 4000, memory: 16 * Gi },
      ...spec,
    },
    status: {
      state: 'off',
      stateSince: now - 60 * minute,
      powerState: 'off',
      bmcReachable: true,
      attempts: 0,
      ...status,
    },
    metrics: metrics ?? {},
  };
}

/** A machine that serves as the node of its name and has been idle for an hour, as far as is remembered. */
export function serving(name: string, { spec, status, metrics }: MachineParts = {}): Machine {
  return machine(name, {
    ...(spec && { spec }),
    status: {
      state: 'ready',
      stateSince: now - 120 * minute,
      powerState: 'on',
      kubernetesNode: name,
      nodeReady: true,
      provenAt: now - 120 * minute,
      ...status,
    },
    metrics: metrics ?? { idleSince: now - 60 * minute },
  });
}

/** A Ready node of 4 cpu and 16 Gi. */
export function node(name: string, parts: Partial<Node> = {}): Node {
  return {
    name,
    ready: true,
    unschedulable: false,
    labels: { 'kubernetes.io/hostname': name },
    annotations: {},
    taints: [],
    allocatable: { cpu: 4000, memory: 16 * Gi, pods: 110 },
    ...parts,
  };
}

/** A pod of 1 cpu and 1 Gi that the scheduler found no node for. */
export function pod(name: string, parts: Partial<Pod> = {}): Pod {
  return {
    namespace: 'default',
    name,
    uid: name,
    finished: false,
    unschedulable: 'Insufficient cpu',
    terminating: false,
    belongsToNode: false,
    movable: true,
    requests: { cpu: 1000, memory: Gi },
    nodeSelector: {},
    tolerations: [],
    createdAt: now - minute,
    ...parts,
  };
}

/** The same pod, running. */
export const running = (name: string, on: string, parts: Partial<Pod> = {}): Pod =>
  pod(name, { node: on, unschedulable: undefined, ...parts });

interface PoolParts extends Partial<Omit<PoolSpec, 'limits' | 'scaleDown'>> {
  readonly minNodes?: number;
  readonly maxNodes?: number;
  readonly cpuCores?: number;
  readonly memoryMiB?: number;
  readonly unneededForMs?: number;
  readonly drainTimeoutMs?: number;
  readonly maxConcurrent?: number;
}

export function pool(parts: PoolParts = {}): PoolSpec {
  const { minNodes = 0, maxNodes = 0, cpuCores = 0, memoryMiB = 0, ...others } = parts;
  const { unneededForMs, drainTimeoutMs = 15 * minute, maxConcurrent = 10, ...rest } = others;
  return {
    ...defaultPool,
    name: 'workers',
    limits: { minNodes, maxNodes, cpuCores, memoryMiB },
    scaleDown: { maxConcurrent, unneededForMs: unneededForMs ?? 10 * minute, drainTimeoutMs },
    ...rest,
  };
}

export const settings = (parts: Partial<Settings> = {}): Settings => ({
  ...defaultSettings,
  scaleDownThreshold: 0.5,
  ...parts,
});

interface SnapshotParts {
  readonly machines?: readonly Machine[];
  readonly pools?: readonly PoolSpec[];
  readonly settings?: Settings;
  readonly pods?: readonly Pod[];
  readonly nodes?: readonly Node[];
}

export const snapshot = (parts: SnapshotParts = {}): Snapshot => ({
  machines: parts.machines ?? [],
  pools: parts.pools ?? [pool()],
  settings: parts.settings ?? settings(),
  cluster: { pods: parts.pods ?? [], nodes: parts.nodes ?? [] },
});

export const operation = (goal: Operation['goal'], parts: Partial<Operation> = {}): Operation => ({
  id: 'op-1',
  machine: 'm1',
  goal,
  why: 'a test',
  spec: machine('m1').spec,
  createdAt: now,
  commands: [],
  ...parts,
});
