import type { Node, Pod } from '../../../../shared/core/cluster/cluster.ts';
import type { Intent } from '../../../../shared/core/decide/decision.ts';
import type { MachineEvent } from '../../../../shared/core/machine/lifecycle.ts';
import type {
  Machine,
  MachineSpec,
  MachineStatus,
  Power,
  PowerVerb,
} from '../../../../shared/core/machine/machine.ts';
import type { Operation } from '../../../../shared/core/machine/operation.ts';
import type { PoolSpec, Settings, Timings } from '../../../../shared/core/settings.ts';
import { machine, node, pod, pool, settings } from '../builders.ts';

/**
 * The whole world of the explorer: what the store says, what is real, and who is in the middle of what.
 * It is plain JSON, and equal worlds are equal text. Time is always 0 and the past is negative: when time
 * passes, everything gets older, and what is older than every patience is all the same.
 */
export interface World {
  machines: ModelMachine[];
  /** Absent, waiting for a node, or running on the machine of that index. */
  pods: ('none' | 'waiting' | number)[];
  /** Lease → who holds it: a slot, or -1 for somebody who died holding it. */
  leases: Record<string, number>;
  slots: (Run | null)[];
}

export interface ModelMachine {
  /** In the store. */
  status: MachineStatus;
  goal?: Operation['goal'];
  commands: { verb: PowerVerb; at: number }[];
  /** In reality. The last command that the BMC took, and has not acted upon yet, may never be. */
  on: boolean;
  pending?: PowerVerb;
  node?: { ready: boolean; cordoned: boolean; boot: number };
  /** On because we ordered it, not because somebody found it so. */
  ordered: boolean;
}

/** A function at work, between two of its steps. `stale`: the machines that were written since it read them. */
export interface Run {
  fn: 'evaluate' | 'power' | 'drain' | 'join' | 'sweep';
  m: number;
  at: string;
  stale: number[];
  power?: Power;
  times?: number;
  verb?: PowerVerb;
  /** Operations begun on the machine since the command was written down. */
  age?: number;
  event?: MachineEvent | undefined;
  observed?: Partial<MachineStatus>;
  uncordon?: boolean;
  intents?: { kind: Intent['kind']; m: number }[];
}

/** What a right implementation does. The explorer must notice when any of it is left out. */
export interface Rules {
  /** A commit is refused when the lease under which it is made is lost. */
  readonly fence: boolean;
  /** Whoever lost the lease does not act on BMC or node any more. */
  readonly checksLease: boolean;
  /** Under the lease the machine is read again before its node is changed. */
  readonly readsUnderLease: boolean;
  /** Pods are listed after the cordon. */
  readonly cordonsFirst: boolean;
  /** The lifecycle's guards are asked. */
  readonly guards: boolean;
  /** An off that was sent, by whatever operation, is waited for before anything is on. */
  readonly mindsPendingOff: boolean;
}

/** All of it. */
export const right: Rules = {
  fence: true,
  checksLease: true,
  readsUnderLease: true,
  cordonsFirst: true,
  guards: true,
  mindsPendingOff: true,
};

export interface Scenario {
  readonly name: string;
  readonly maxNodes: number;
  /** For every pod: the machines it fits. */
  readonly pods: readonly (readonly number[])[];
  readonly starts: readonly World[];
  readonly functions: readonly Run['fn'][];
  readonly faults: readonly Fault[];
  /** Breadth first through this many worlds, then this many random walks beyond. */
  readonly mostStates: number;
  readonly walks: number;
}

export type Fault =
  | 'crash'
  | 'lease lost'
  | 'unknown reading'
  | 'command without effect'
  | 'eviction blocked'
  | 'node flaps'
  | 'person'
  | 'pods come and go';

/** Every patience is one or two units, so that all of them can run out. */
export const timings: Timings = {
  bmcTimeoutMs: 1,
  readEveryMs: 1,
  sweepEveryMs: 1,
  commandEveryMs: 0,
  resendAfterMs: 1,
  softOffPatienceMs: 1,
  powerOnTimeoutMs: 2,
  powerOffTimeoutMs: 2,
  shortestJoinTimeoutMs: 2,
  retryAfterMs: 1,
  retryAfterMaxMs: 2,
  evictEveryMs: 1,
  volumeTimeoutMs: 1,
};
const oldest = -2;

export const modelSettings: Settings = settings({
  protect: [],
  scaleDownThreshold: 0,
  requireProvenCycle: false,
  cooldowns: { afterScaleUpMs: 0, afterScaleDownMs: 0, afterFailureMs: 0 },
  timings,
});

export const modelPool = (maxNodes: number): PoolSpec =>
  pool({ maxNodes, unneededForMs: 0, drainTimeoutMs: 2, provisionTimeoutMs: 2 });

/** The second draws less, so that different pods make evaluations choose different machines. */
const specs: readonly MachineSpec[] = ['m0', 'm1'].map(
  (name, index) =>
    machine(name, { spec: { resources: { cpu: 1000 }, watts: { idle: 1, max: 2 - index } } }).spec,
);

export const nameOf = (m: number): string => `m${m}`;

export function machineAt(world: World, m: number): Machine {
  const spec = specs[m];
  if (!spec) throw new Error(`there is no machine ${m}`);
  return { spec, status: modelMachine(world, m).status, metrics: {} };
}

export function modelMachine(world: World, m: number): ModelMachine {
  const found = world.machines[m];
  if (!found) throw new Error(`there is no machine ${m}`);
  return found;
}

export const podsOn = (world: World, m: number): number => world.pods.filter((where) => where === m).length;

/** The nodes as Kubernetes shows them. One that is not ours keeps the cluster from its last Ready node. */
export const nodesOf = (world: World): Node[] => [
  node('other', { allocatable: {} }),
  ...world.machines.flatMap(({ node: real }, m) =>
    real
      ? node(nameOf(m), {
          ready: real.ready,
          unschedulable: real.cordoned,
          allocatable: { cpu: 1000, pods: 10 },
          bootID: String(real.boot),
        })
      : [],
  ),
];

export const podsOf = (world: World, fits: Scenario['pods']): Pod[] =>
  world.pods.flatMap((where, index) => {
    if (where === 'none') return [];
    const only = fits[index]?.length === 1 ? nameOf(fits[index][0] ?? 0) : undefined;
    return pod(`p${index}`, {
      requests: { cpu: 1000 },
      createdAt: -1,
      nodeSelector: only === undefined ? {} : { 'kubernetes.io/hostname': only },
      ...(typeof where === 'number' && { node: nameOf(where), unschedulable: undefined }),
    });
  });

/** Leaves out what nothing depends on, and forgets how old is very old: fewer worlds that differ in nothing. */
function tidyStatus(status: MachineStatus): MachineStatus {
  const old = (time: number): number => Math.max(time, oldest);
  const { retryAt, lastError, drain, pendingOff } = status;
  return {
    state: status.state,
    stateSince: old(status.stateSince),
    powerState: status.powerState,
    attempts: Math.min(status.attempts, 1),
    ...(status.operation !== undefined && { operation: 'op' }),
    ...(status.kubernetesNode !== undefined && { kubernetesNode: status.kubernetesNode }),
    ...(status.nodeReady !== undefined && { nodeReady: status.nodeReady }),
    ...(status.bootID !== undefined && { bootID: status.bootID }),
    ...(status.bootTime !== undefined && { bootTime: 0 }),
    ...(status.joinTime !== undefined && { joinTime: 0 }),
    ...(retryAt !== undefined && retryAt > 0 && { retryAt }),
    ...(pendingOff && { pendingOff: { verb: pendingOff.verb, at: old(pendingOff.at) } }),
    ...(lastError && { lastError: { code: lastError.code, message: '', at: 0 } }),
    ...(drain && { drain: { podsLeft: drain.podsLeft, podsTotal: 0 } }),
  };
}

export function tidy(world: World): World {
  for (const one of world.machines) {
    one.status = tidyStatus(one.status);
    const { commands } = one;
    // Only the first and the last count, and there are none without an operation.
    one.commands =
      one.status.operation === undefined
        ? []
        : commands.length > 2
          ? [...commands.slice(0, 1), ...commands.slice(-1)]
          : commands;
    for (const command of one.commands) command.at = Math.max(command.at, oldest);
  }
  return world;
}

/** One unit of time. */
export function passTime(world: World): void {
  for (const one of world.machines) {
    const { retryAt, pendingOff } = one.status;
    one.status = {
      ...one.status,
      stateSince: one.status.stateSince - 1,
      ...(retryAt !== undefined && { retryAt: retryAt - 1 }),
      ...(pendingOff && { pendingOff: { ...pendingOff, at: pendingOff.at - 1 } }),
    };
    for (const command of one.commands) command.at -= 1;
    // What a BMC has not done by then it never does.
    const given = one.status.pendingOff;
    if (given && given.at <= -timings.powerOffTimeoutMs && one.pending !== 'on') delete one.pending;
  }
}

/** A machine that gets power boots restarted: whatever boot was the last one is now one more boot ago. */
export function setPower(world: World, m: number, on: boolean): void {
  const one = modelMachine(world, m);
  if (on && !one.on) {
    const older = (boot: number): number => Math.min(boot + 1, 2);
    const relabel = <Status extends Partial<MachineStatus>>(status: Status): Status =>
      status.bootID === undefined ? status : { ...status, bootID: String(older(Number(status.bootID))) };
    if (one.node) one.node.boot = older(one.node.boot);
    one.status = relabel(one.status);
    for (const run of world.slots) if (run?.observed && run.m === m) run.observed = relabel(run.observed);
  }
  one.on = on;
  // Whatever was to power it off has nothing left to do.
  if (!on && one.pending !== 'on') delete one.pending;
}
