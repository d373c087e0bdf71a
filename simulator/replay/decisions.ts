import type { Node, Pod } from '../../shared/core/cluster/cluster.ts';
import { decide } from '../../shared/core/decide/decide.ts';
import type { Intent } from '../../shared/core/decide/decision.ts';
import type { PoolForecast } from '../../shared/core/forecast/pool-forecast.ts';
import { capacityOf, type MachineEvent } from '../../shared/core/machine/lifecycle.ts';
import type { Machine, MachineSpec, MachineStatus } from '../../shared/core/machine/machine.ts';
import { overdue, transition } from '../../shared/core/machine/transition.ts';
import type { PoolSpec, Settings } from '../../shared/core/settings.ts';
import { createAgenda } from './agenda.ts';
import { createRandom } from './random.ts';
import { createScheduler } from './scheduler.ts';

export interface ReplayPod {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly requests: Readonly<Record<string, number>>;
}

export interface DecisionsInput {
  readonly machines: readonly MachineSpec[];
  readonly pods: readonly ReplayPod[];
  readonly pool: PoolSpec;
  readonly settings: Settings;
  readonly bootMs: number;
  /** From the end of a drain until it is off. */
  readonly offMs: number;
  /** Pods that end are looked at together, this often; those that wait are looked at at once. */
  readonly tickMs: number;
  readonly until: number;
  /** How likely a power-on never becomes a node. */
  readonly failureRate?: number | undefined;
  readonly seed?: number | undefined;
  /** What is expected, and the times at which that changes. */
  readonly forecast?: { readonly times: readonly number[]; at(now: number): PoolForecast } | undefined;
}

export interface DecisionsResult {
  readonly onMs: number;
  readonly busyMs: number;
  readonly wakeUps: number;
  readonly failures: number;
  readonly decisions: number;
  /** How long each pod waited for its first node; pods that never had one are not among them. */
  readonly waits: ReadonlyMap<string, number>;
  /** Of all pods, those that never had a node included. */
  readonly waitedMs: number;
  readonly neverPlaced: number;
  readonly mostOn: number;
}

type Happening =
  | { readonly kind: 'starts' | 'ends'; readonly pod: number }
  | {
      readonly kind: 'joins' | 'off' | 'late' | 'retry';
      readonly machine: string;
      readonly operation: string;
    }
  | { readonly kind: 'look' };

const controlPlane: Node = {
  name: 'control-plane',
  ready: true,
  unschedulable: true,
  labels: {},
  annotations: {},
  taints: [],
  allocatable: {},
};

/**
 * A history of pods through the decisions and the lifecycle themselves, event by event in virtual time: pods start and
 * end, machines boot and join, drains end at once. No clock, no I/O; the seed decides which boots fail.
 */
export function runDecisions(input: DecisionsInput): DecisionsResult {
  const { pool, settings, bootMs, offMs, tickMs, until, failureRate = 0, seed = 1, forecast } = input;
  const random = createRandom(seed);
  const agenda = createAgenda<Happening>();
  for (const [pod, { start, end }] of input.pods.entries()) {
    if (start >= until || end <= start) continue;
    agenda.add(start, { kind: 'starts', pod });
    agenda.add(end, { kind: 'ends', pod });
  }
  for (const at of forecast?.times ?? []) agenda.add(at, { kind: 'look' });
  const start = Math.min(agenda.next(), until);
  const machines = new Map(input.machines.map((spec) => [spec.name, offMachine(spec, start)]));
  const nodes = new Map<string, Node>();
  const scheduler = createScheduler(
    (node) => machines.get(node)?.metrics.idleSince ?? Number.POSITIVE_INFINITY,
  );
  const waits = new Map<string, number>();
  const tally = { onMs: 0, busyMs: 0, waitedMs: 0, wakeUps: 0, failures: 0, decisions: 0, mostOn: 0 };
  let now = start;
  let operations = 0;

  const advance = (to: number): void => {
    const on = [...machines.values()].filter((machine) => capacityOf(machine) !== 'none').length;
    tally.mostOn = Math.max(tally.mostOn, on);
    tally.onMs += on * (to - now);
    tally.busyMs += scheduler.busy() * (to - now);
    tally.waitedMs += scheduler.waiting() * (to - now);
    now = to;
  };
  const change = (name: string, event: MachineEvent, patch: Partial<MachineStatus> = {}): boolean => {
    const machine = machines.get(name);
    if (!machine) return false;
    const known = { ...machine, status: { ...machine.status, ...patch } };
    const result = transition(known, event, now, settings.timings);
    if (result.ok) machines.set(name, { ...machine, status: result.status });
    return result.ok;
  };
  const powerOn = (name: string): void => {
    operations += 1;
    const operation = `op-${operations}`;
    if (!change(name, { type: 'power-on-requested', operation })) return;
    change(name, { type: 'powered-on' }, { powerState: 'on', lastPowerAction: 'on', powerActionTime: now });
    tally.wakeUps += 1;
    const fails = failureRate > 0 && random() < failureRate;
    if (fails) agenda.add(now + pool.provisionTimeoutMs, { kind: 'late', machine: name, operation });
    else agenda.add(now + bootMs, { kind: 'joins', machine: name, operation });
  };
  const drain = (name: string): void => {
    operations += 1;
    const operation = `op-${operations}`;
    if (!change(name, { type: 'drain-requested', operation })) return;
    nodes.delete(name);
    scheduler.removeNode(name);
    change(name, { type: 'drained' }, { drain: { podsLeft: 0, podsTotal: 0 } });
    agenda.add(now + offMs, { kind: 'off', machine: name, operation });
  };
  const carryOut = ({ kind, machine }: Intent): void => {
    if (kind === 'power-on') powerOn(machine);
    else if (kind === 'drain') drain(machine);
  };
  const happen = (happening: Happening): void => {
    if (happening.kind === 'look') return;
    if ('pod' in happening) {
      const pod = input.pods[happening.pod];
      if (!pod) return;
      if (happening.kind === 'starts') scheduler.add(toPod(pod));
      else scheduler.remove(pod.name);
      return;
    }
    const { machine: name, operation } = happening;
    const machine = machines.get(name);
    if (!machine || (machine.status.operation !== operation && happening.kind !== 'retry')) return;
    if (happening.kind === 'joins') {
      change(name, { type: 'joined', node: name }, { nodeReady: true });
      const node = nodeOf(machine.spec);
      nodes.set(name, node);
      scheduler.addNode(node);
    } else if (happening.kind === 'off')
      change(
        name,
        { type: 'powered-off' },
        { powerState: 'off', lastPowerAction: 'soft-off', powerActionTime: now },
      );
    else if (happening.kind === 'late') {
      const event = overdue(machine, pool, settings.timings, now);
      if (!event || !change(name, event)) return;
      tally.failures += 1;
      agenda.add(machines.get(name)?.status.retryAt ?? now, { kind: 'retry', machine: name, operation });
    } else change(name, { type: 'found-off' }, { powerState: 'off', nodeReady: false });
  };
  const place = (): void => {
    for (const { name, createdAt } of scheduler.place())
      if (!waits.has(name)) waits.set(name, now - createdAt);
  };
  const evaluate = (): void => {
    tally.decisions += 1;
    const decision = decide(
      {
        machines: [...machines.values()],
        pools: [pool],
        settings,
        cluster: { nodes: [controlPlane, ...nodes.values()], pods: scheduler.pods() },
        ...(forecast && { forecasts: [forecast.at(now)] }),
      },
      now,
    );
    for (const { machine: name, idleSince } of decision.idle) {
      const machine = machines.get(name);
      if (!machine) continue;
      const { idleSince: _before, ...metrics } = machine.metrics;
      machines.set(name, {
        ...machine,
        metrics: idleSince === undefined ? metrics : { ...metrics, idleSince },
      });
    }
    for (const intent of decision.intents) carryOut(intent);
    if (decision.intents.length > 0) place();
  };
  /** When the next machine will have been idle for long enough. */
  const nextLeave = (): number => {
    const idleMs = pool.scaleDown.unneededForMs ?? settings.unneededForMs;
    let next = Number.POSITIVE_INFINITY;
    for (const machine of machines.values()) {
      const { idleSince } = machine.metrics;
      if (idleSince === undefined || capacityOf(machine) !== 'serving') continue;
      if (idleSince + idleMs > now) next = Math.min(next, idleSince + idleMs);
    }
    return next;
  };

  let due = Number.POSITIVE_INFINITY;
  for (;;) {
    const next = Math.min(agenda.next(), due, nextLeave());
    if (next >= until) break;
    advance(next);
    const happened = agenda.take(now);
    for (const one of happened) happen(one);
    place();
    const onlyEnds = happened.every(({ kind }) => kind === 'ends') && scheduler.waiting() === 0;
    if (onlyEnds && happened.length > 0 && tickMs > 0 && due > now) {
      due = Math.min(due, Math.ceil((now + 1) / tickMs) * tickMs);
      continue;
    }
    due = Number.POSITIVE_INFINITY;
    evaluate();
  }
  advance(until);
  return { ...tally, waits, neverPlaced: scheduler.waiting() };
}

const offMachine = (spec: MachineSpec, now: number): Machine => ({
  spec,
  status: { state: 'off', stateSince: now, powerState: 'off', bmcReachable: true, attempts: 0 },
  metrics: {},
});

const nodeOf = ({ name, resources, labels, taints }: MachineSpec): Node => ({
  name,
  ready: true,
  unschedulable: false,
  labels: { 'kubernetes.io/hostname': name, ...labels },
  annotations: {},
  taints: taints ?? [],
  allocatable: { pods: 110, ...resources },
});

const toPod = ({ name, start, requests }: ReplayPod): Pod => ({
  namespace: 'history',
  name,
  uid: name,
  finished: false,
  unschedulable: 'no node has room',
  terminating: false,
  belongsToNode: false,
  movable: true,
  requests,
  nodeSelector: {},
  tolerations: [],
  createdAt: start,
});
