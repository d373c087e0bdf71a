import { because, type Explained, type Reason, textOf } from '../reasons/reason.ts';
import type { PoolSpec, Timings } from '../settings.ts';
import type { ErrorCode, Machine } from './machine.ts';

/** Which function takes the next step while a machine is in a state. */
export type Step = 'power-action' | 'join-watcher' | 'drain-node';

/** The capacity of a machine in this state: none, coming, serving, or leaving. */
export type Capacity = 'none' | 'coming' | 'serving' | 'leaving';

/** How an operation ends: its goal was reached, it failed, or it was called off. */
export type OperationEnd = 'done' | 'failed' | 'cancelled';

export type MachineEvent =
  | { readonly type: 'power-on-requested'; readonly operation: string }
  | { readonly type: 'powered-on' }
  | { readonly type: 'joined'; readonly node: string }
  | { readonly type: 'drain-requested'; readonly operation: string }
  | { readonly type: 'drained' }
  /** `needed`: demand came back, which is no failure of the drain. */
  | ({ readonly type: 'drain-aborted'; readonly needed?: boolean } & Explained)
  | { readonly type: 'power-off-requested'; readonly operation: string }
  /** A person requested to cut the power at once. */
  | { readonly type: 'cut-requested'; readonly operation: string }
  | { readonly type: 'powered-off' }
  /** Its node has been NotReady, or gone, for longer than the timeout. */
  | { readonly type: 'lost'; readonly message: string }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly message: string }
  | { readonly type: 'found-on' }
  | { readonly type: 'found-off' }
  | { readonly type: 'maintenance-began' }
  | { readonly type: 'maintenance-ended' };

/** Returns why the event may not happen to this machine now, or nothing. */
type Guard = (machine: Machine, now: number) => Reason | undefined;

interface Transition<To = string> {
  readonly to: To;
  readonly guard?: Guard;
  readonly ends?: OperationEnd;
}

interface StateRow<To = string> {
  readonly means: string;
  readonly waitsFor: string;
  readonly capacity: Capacity;
  readonly step?: Step;
  /** How long the state may last, and the event that ends it then. */
  readonly deadline?: {
    readonly text: string;
    readonly ms: (machine: Machine, pool: PoolSpec, timings: Timings) => number;
    readonly event: (machine: Machine, afterMs: number) => MachineEvent;
  };
  readonly on: Partial<Record<MachineEvent['type'], Transition<To>>>;
}

const free: Guard = ({ spec, status }, now) => {
  if (status.operation) return { code: 'operation-running', operation: status.operation };
  if (spec.maintenance) return { code: 'in-maintenance' };
  if (status.retryAt !== undefined && status.retryAt > now)
    return { code: 'quarantined', error: status.lastError?.message };
  return undefined;
};
const mayStart: Guard = (machine, now) =>
  machine.spec.powerState === 'off' ? { code: 'stays-off' } : free(machine, now);
const mayLeave: Guard = (machine, now) => {
  if (machine.spec.powerState === 'on') return { code: 'stays-on' };
  if (machine.status.cannotPowerOff) return { code: 'cannot-power-off' };
  return free(machine, now);
};
const madeOnDemand: Guard = (machine, now) =>
  machine.spec.made ? free(machine, now) : { code: 'not-on-demand' };
const unoccupied: Guard = ({ status }) =>
  status.operation ? { code: 'operation-running', operation: status.operation } : undefined;
const notInMaintenance: Guard = (machine, now) =>
  machine.spec.maintenance ? { code: 'in-maintenance' } : unoccupied(machine, now);
const powerIsOn: Guard = ({ status }) =>
  status.powerState === 'on' ? undefined : { code: 'power-differs', power: status.powerState, needed: 'on' };
const powerIsOff: Guard = ({ status }) =>
  status.powerState === 'off'
    ? undefined
    : { code: 'power-differs', power: status.powerState, needed: 'off' };
const dark: Guard = (machine, now) =>
  machine.status.nodeReady ? { code: 'node-ready' } : powerIsOff(machine, now);
const nodeIsReady: Guard = ({ status }) => (status.nodeReady ? undefined : { code: 'node-not-ready' });
const nodeIsNotReady: Guard = (machine, now) =>
  machine.status.nodeReady ? { code: 'node-ready' } : unoccupied(machine, now);
/** Its kubelet is silent though the machine has power: nothing but the power button reaches it. */
const hung: Guard = (machine, now) => {
  if (!machine.status.kubernetesNode) return { code: 'no-node' };
  return nodeIsNotReady(machine, now) ?? powerIsOn(machine, now) ?? mayLeave(machine, now);
};
const drained: Guard = ({ status }) =>
  status.drain?.podsLeft === 0 ? undefined : { code: 'pods-left', pods: status.drain?.podsLeft };
/** Its current or last boot was started by our operation; machines made on demand are always ours. */
export const poweredByUs = ({ spec, status }: Machine): boolean =>
  status.bootTime !== undefined || spec.made === true;
const nothingToLose: Guard = (machine, now) => {
  if (machine.status.kubernetesNode && (machine.status.nodeReady || drained(machine, now)))
    return { code: 'drain-first', node: machine.status.kubernetesNode };
  if (!poweredByUs(machine)) return { code: 'powered-on-by-others' };
  return free(machine, now);
};
/** A machine that did not join in time may join while it is being powered off. */
const cameBack = (machine: Machine): boolean =>
  machine.status.nodeReady === true && machine.status.drain?.podsLeft !== 0;

/** Every state and transition. The diagram in docs/ is generated from this table. */
const table = {
  off: {
    means: 'powered off, not needed',
    waitsFor: 'demand',
    capacity: 'none',
    on: {
      'power-on-requested': { to: 'powering-on', guard: mayStart },
      'power-off-requested': { to: 'powering-off', guard: madeOnDemand },
      'found-on': { to: 'joining', guard: powerIsOn },
      failed: { to: 'error', guard: unoccupied },
      'maintenance-began': { to: 'maintenance' },
    },
  },
  'powering-on': {
    means: 'power-on requested, not verified yet',
    waitsFor: 'the BMC to say on in consecutive reads',
    capacity: 'coming',
    step: 'power-action',
    deadline: {
      text: 'powerOnTimeout; provisionTimeout where power is inferred from the node',
      ms: ({ status }, pool, timings) => (status.blind ? pool.provisionTimeoutMs : timings.powerOnTimeoutMs),
      event: ({ status }, afterMs) => ({
        type: 'failed',
        code: 'power-on-failed',
        message: textOf({ code: 'power-on-timeout', power: status.powerState, afterMs }),
      }),
    },
    on: {
      'powered-on': { to: 'joining', guard: powerIsOn },
      failed: { to: 'error', ends: 'failed' },
    },
  },
  joining: {
    means: 'powered on; booting until its node is Ready',
    waitsFor: 'a Ready node that is this machine',
    capacity: 'coming',
    step: 'join-watcher',
    deadline: {
      text: 'provisionTimeout, or three times the learned boot time',
      // Not just once the usual boot: a file system check or a firmware update is no failure yet.
      ms: ({ status }, pool, timings) =>
        Math.min(
          pool.provisionTimeoutMs,
          Math.max(timings.shortestJoinTimeoutMs, 3 * (status.learnedBootMs ?? Number.POSITIVE_INFINITY)),
        ),
      event: (_machine, afterMs) => ({
        type: 'failed',
        code: 'never-joined',
        message: textOf({ code: 'join-timeout', afterMs }),
      }),
    },
    on: {
      joined: { to: 'ready', guard: nodeIsReady, ends: 'done' },
      'found-off': { to: 'error', guard: dark, ends: 'failed' },
      'cut-requested': { to: 'powering-off', guard: notInMaintenance },
      failed: { to: 'error', ends: 'failed' },
      'maintenance-began': { to: 'maintenance', guard: unoccupied },
    },
  },
  ready: {
    means: 'serving as a node',
    waitsFor: 'the end of demand',
    capacity: 'serving',
    on: {
      'drain-requested': { to: 'draining', guard: mayLeave },
      'cut-requested': { to: 'powering-off', guard: notInMaintenance },
      lost: { to: 'error', guard: nodeIsNotReady },
      'power-off-requested': { to: 'powering-off', guard: hung },
      'found-off': { to: 'off', guard: dark },
      'maintenance-began': { to: 'maintenance', guard: unoccupied },
    },
  },
  draining: {
    means: 'cordoned; its pods are being evicted',
    waitsFor: 'every pod to be gone',
    capacity: 'leaving',
    step: 'drain-node',
    deadline: {
      text: 'drainTimeout',
      ms: (_machine, pool) => pool.scaleDown.drainTimeoutMs,
      event: ({ status }, afterMs) => ({
        type: 'drain-aborted',
        ...because({
          code: 'drain-timeout',
          pods: status.drain?.podsLeft,
          afterMs,
          waitingFor: status.drain?.waitingFor,
        }),
      }),
    },
    on: {
      drained: { to: 'powering-off', guard: drained },
      'drain-aborted': { to: 'ready', ends: 'cancelled' },
      'found-off': { to: 'off', guard: dark, ends: 'cancelled' },
    },
  },
  'powering-off': {
    means: 'drained, power-off requested, not verified yet',
    waitsFor: 'the BMC to say off in consecutive reads',
    capacity: 'leaving',
    step: 'power-action',
    deadline: {
      text: 'powerOffTimeout; at once when its node is Ready and was not drained',
      ms: (machine, _pool, timings) => (cameBack(machine) ? 0 : timings.powerOffTimeoutMs),
      event: (machine, afterMs) => ({
        type: 'failed',
        code: 'power-off-failed',
        message: textOf(
          cameBack(machine)
            ? { code: 'node-came-back' }
            : { code: 'power-off-timeout', power: machine.status.powerState, afterMs },
        ),
      }),
    },
    on: {
      'powered-off': { to: 'off', guard: powerIsOff, ends: 'done' },
      failed: { to: 'error', ends: 'failed' },
    },
  },
  error: {
    means: 'quarantined after a failure',
    waitsFor: 'the time of its next try, or its node to turn up after all',
    capacity: 'none',
    step: 'power-action',
    on: {
      joined: { to: 'ready', guard: nodeIsReady },
      'found-off': { to: 'off', guard: dark },
      'found-on': { to: 'joining', guard: powerIsOn },
      'power-off-requested': { to: 'powering-off', guard: nothingToLose },
      'cut-requested': { to: 'powering-off', guard: notInMaintenance },
      'maintenance-began': { to: 'maintenance' },
    },
  },
  maintenance: {
    means: 'in the hands of a person; never touched',
    waitsFor: 'maintenance to end',
    capacity: 'none',
    on: {
      'maintenance-ended': { to: 'off' },
    },
  },
} as const satisfies Record<string, StateRow>;

export type MachineState = keyof typeof table;

/** A machine that was never read starts here; its BMC will report its actual state. */
export const initialState: MachineState = 'off';

export const lifecycle: Readonly<Record<MachineState, StateRow<MachineState>>> = table;

export const states = Object.keys(table) as MachineState[];

export const capacityOf = (machine: Machine): Capacity => lifecycle[machine.status.state].capacity;

/** In the hands of a person: only they can end that. */
export const isSetAside = (machine: Machine): boolean =>
  lifecycle[machine.status.state].on['maintenance-ended'] !== undefined;

export const stepOf = (machine: Machine): Step | undefined => lifecycle[machine.status.state].step;
