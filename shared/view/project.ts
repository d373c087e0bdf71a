import type { Pod } from '../core/cluster/cluster.ts';
import type { Use } from '../core/cluster/node-use.ts';
import { add, type Resources } from '../core/cluster/resources.ts';
import type { DecisionRecord } from '../core/decide/decision.ts';
import { capacityOf, isSetAside, lifecycle } from '../core/machine/lifecycle.ts';
import { withCode } from '../core/reasons/reason.ts';
import type { PoolSpec } from '../core/settings.ts';
import type { StoredOperation } from '../state/inventory.ts';
import type { HistoryEntry, MachineRecord } from '../state/machine-record.ts';
import { healthOf } from '../state/pool-health.ts';
import type {
  DecisionSummary,
  DecisionView,
  HistoryView,
  MachineDetail,
  MachineView,
  OperationView,
  PodView,
  PoolView,
} from './shapes.ts';

export function machineView(record: MachineRecord, use: Use): MachineView {
  const { spec, status, metrics, history } = record;
  const { means, waitsFor, capacity } = lifecycle[status.state];
  const onNode = use.get(status.kubernetesNode ?? '');
  const last = history.at(-1);
  return {
    name: spec.name,
    pool: spec.pool,
    rack: spec.rack,
    rackUnit: spec.rackUnit,
    rackHeight: spec.rackHeight,
    zone: spec.zone,
    powerCircuit: spec.powerCircuit,
    powerInterface: spec.powerInterface,
    made: spec.made ?? false,
    offer: spec.offer,
    hourlyRate: spec.pricing?.hourlyRate,
    state: status.state,
    means,
    waitsFor,
    capacity,
    stateSince: status.stateSince,
    why: last?.why,
    power: { state: status.powerState, inferred: status.powerInferred ?? false },
    bmc: {
      reachable: status.bmcReachable,
      refused: status.refused && { until: status.refused.until, message: status.refused.message },
    },
    node: {
      name: status.kubernetesNode,
      ready: status.nodeReady,
      problem: status.nodeProblem,
      pods: onNode?.pods,
    },
    resources: spec.resources,
    requested: onNode?.requests,
    watts: { now: wattsNow(record, onNode?.requests), idle: spec.watts?.idle, max: spec.watts?.max },
    health: {
      status: metrics.health ?? 'unknown',
      celsius: metrics.celsius,
      problems: [...(metrics.problems ?? [])],
    },
    boot: { learnedMs: status.learnedBootMs, startedAt: status.bootTime, provenAt: status.provenAt },
    drain: status.drain,
    operation: status.operation,
    error: status.lastError,
    idleSince: metrics.idleSince,
    attempts: status.attempts,
    retryAt: status.retryAt,
    maintenance: spec.maintenance === true || isSetAside(record),
  };
}

/** Measured where the BMC measures; otherwise between idle and maximum, as much as pods ask for. */
function wattsNow({ spec, status, metrics }: MachineRecord, requested?: Resources): number | undefined {
  if (status.powerState === 'off') return 0;
  // A measurement from before the power-on is its draw while off.
  const isOfNow = (metrics.at ?? 0) >= (status.bootTime ?? 0);
  if (metrics.watts !== undefined && (isOfNow || !spec.watts)) return metrics.watts;
  if (!spec.watts) return undefined;
  const share = Math.min(1, (requested?.cpu ?? 0) / (spec.resources.cpu || 1));
  return Math.round(spec.watts.idle + share * (spec.watts.max - spec.watts.idle));
}

export function machineDetail(
  record: MachineRecord,
  use: Use,
  operations: readonly StoredOperation[],
): MachineDetail {
  const { spec, history } = record;
  return {
    ...machineView(record, use),
    mgmtAddress: spec.mgmtAddress,
    macAddress: spec.macAddress,
    systemUUID: spec.systemUUID,
    labels: spec.labels ?? {},
    taints: [...(spec.taints ?? [])],
    history: history.map((entry) => historyView(spec.name, entry)).reverse(),
    operations: operations
      .filter(({ machine }) => machine === spec.name)
      .map(operationView)
      .reverse(),
  };
}

export const historyView = (machine: string, entry: HistoryEntry): HistoryView => ({ machine, ...entry });

/** Without the copy of the spec: readers of operations need not see addresses. */
export const operationView = ({
  spec: _,
  last: __,
  progress,
  commands,
  ...operation
}: StoredOperation): OperationView => ({
  ...operation,
  commands: [...commands],
  progress: [...(progress ?? [])],
});

export function poolView(
  { name, managedBy, limits }: PoolSpec,
  all: readonly MachineRecord[],
  use: Use,
): PoolView {
  const members = all.filter(({ spec }) => spec.pool === name);
  const count = (capacity: string) => members.filter((machine) => capacityOf(machine) === capacity).length;
  const serving = members.filter((machine) => capacityOf(machine) === 'serving');
  const states: Record<string, number> = {};
  for (const { status } of members) states[status.state] = (states[status.state] ?? 0) + 1;
  const { health, why } = healthOf(members);
  const requestsOn = ({ status }: MachineRecord) => use.get(status.kubernetesNode ?? '')?.requests ?? {};
  return {
    name,
    managedBy,
    limits,
    machines: members.length,
    states,
    ready: count('serving'),
    pending: count('coming'),
    leaving: count('leaving'),
    desired: count('serving') + count('coming'),
    health: { status: health, why },
    resources: serving.map(({ spec }) => spec.resources).reduce(add, {}),
    requested: serving.map(requestsOn).reduce(add, {}),
    watts: {
      now: members.reduce((sum, machine) => sum + (wattsNow(machine, requestsOn(machine)) ?? 0), 0),
      max: members.reduce((sum, { spec }) => sum + (spec.watts?.max ?? 0), 0),
    },
  };
}

type StoredDecision = DecisionRecord & { readonly id: string };

export function decisionSummary({ id, at, summary, intents, unmet }: StoredDecision): DecisionSummary {
  const named = (kind: string) => intents.filter((one) => one.kind === kind).map(({ machine }) => machine);
  return {
    id,
    at,
    summary,
    powerOn: named('power-on'),
    drain: named('drain'),
    intents: intents.length,
    unmet: unmet.reduce((sum, { pods }) => sum + pods, 0),
  };
}

export function decisionView(decision: StoredDecision): DecisionView {
  const { digest, demand, wants, candidates, offers = [], limits, notes, unmet } = decision;
  return {
    ...decisionSummary(decision),
    digest,
    demand: demand.map(({ unmodelled, ...group }) => ({ ...group, unmodelled: [...(unmodelled ?? [])] })),
    wants: [...wants],
    candidates: candidates.map(withCode).map(({ alike, ...candidate }) => ({
      ...candidate,
      ...(alike && { alike: { count: alike.count, examples: [...alike.examples] } }),
    })),
    offers: offers.map(withCode),
    limits: [...limits],
    notes: [...notes],
    unmetPods: unmet.map(withCode),
  };
}

/** A pod that waits, and what the last decision said of it or of one like it. */
export function podView(pod: Pod, last: StoredDecision | undefined): PodView {
  const { namespace, name, requests, createdAt, unschedulable } = pod;
  return { namespace, name, requests, since: createdAt, scheduler: unschedulable, why: fateOf(pod, last) };
}

function fateOf({ namespace, name, requests }: Pod, last: StoredDecision | undefined): string {
  if (!last) return 'no decision has been made yet';
  const unmet = last.unmet.find(({ pod }) => pod === `${namespace}/${name}`);
  if (unmet) return unmet.why;
  const asks = JSON.stringify(Object.entries(requests).sort());
  const group = last.demand.find((one) => JSON.stringify(Object.entries(one.requests).sort()) === asks);
  if (!group) return 'not evaluated yet: see the next decision';
  if (group.served > 0 || group.room > 0) return 'room for it is there or on its way';
  return last.unmet.find(({ pod }) => pod === group.example)?.why ?? 'no machine can run it';
}
