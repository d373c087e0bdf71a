import type { Pod } from '../api/objects.ts';
import { nodes, pods } from '../api/resource-types.ts';
import { bind } from '../api/subresources.ts';
import { type Context, keyOf, record } from './context.ts';
import { type Demand, demandOf, fullness, mismatch, type NodeState, shortages, tooBig } from './node-fit.ts';
import { NodeStates } from './node-states.ts';
import { conditionOf, withCondition } from './pod-state.ts';

/** Enough fitting nodes to choose from; looking at all of thousands gains nothing. */
const enoughNodes = 100;
/** How many pods are told at one go that they do not fit. */
const tellBatch = 500;
const sliceMs = 10;

/** Waiting pods that ask for the same: if one does not fit, none does. */
interface Group {
  readonly demand: Demand;
  readonly pods: Map<string, Pod>;
  candidates?: { of: number; nodes: NodeState[] } | undefined;
}

const component = 'default-scheduler';
const notHelpful = 'Preemption is not helpful for scheduling';
const notTheOne = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
const noVictims = 'No preemption victims found for incoming pod';

/** `2 Insufficient cpu, 1 node(s) were unschedulable` */
function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}

/** Why no node takes the pods of a group, in the real scheduler's words. */
function refusal(demand: Demand, states: readonly NodeState[]): string {
  if (!states.length) return 'no nodes available to schedule pods';
  const none = `0/${states.length} nodes are available`;
  const only = onlyNode(demand);
  const reasons: string[] = [];
  const preemption: string[] = [];
  for (const state of states) {
    const elsewhere = only !== undefined && only !== state.node.metadata.name;
    const why = elsewhere ? notTheOne : mismatch(demand, state.node);
    reasons.push(...(why ? [why] : shortages(demand, state)));
    preemption.push(why || tooBig(demand, state) ? notHelpful : noVictims);
  }
  return `${none}: ${histogram(reasons)}. no new claims to deallocate, preemption: ${none}: ${histogram(preemption)}.`;
}

/** The one node a pod insists on, if any: DaemonSet pods do, and there are as many of them as nodes. */
function onlyNode({ spec }: Demand): string | undefined {
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = terms?.length === 1 ? terms[0]?.matchFields?.[0] : undefined;
  return field?.operator === 'In' && field.values?.length === 1 ? field.values[0] : undefined;
}

class Scheduler {
  readonly #context: Context;
  readonly #states = new NodeStates();
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<string, Group>();
  /** Groups to be tried. */
  readonly #todo = new Set<Group>();
  /** Pods to be told that they do not fit, by group. */
  readonly #untold = new Map<Group, string>();
  #nodesVersion = 0;
  #next = 0;

  constructor(context: Context) {
    this.#context = context;
    context.on(nodes, (change) => {
      if (!this.#states.applyNode(change)) return;
      this.#nodesVersion++;
      this.#tryAll();
    });
    context.on(pods, (change) => {
      if (this.#states.applyPod(change)) this.#tryAll();
      this.#file(change.object, change.type === 'DELETED');
    });
  }

  /** Puts a pod into the group it waits in, or out of it. */
  #file(pod: Pod, gone: boolean): void {
    const key = keyOf(pod);
    const { nodeName, schedulingGates, schedulerName } = pod.spec;
    const waits =
      !gone &&
      !nodeName &&
      !schedulingGates?.length &&
      !pod.metadata.deletionTimestamp &&
      pod.status.phase === 'Pending' &&
      schedulerName === component;
    const before = this.#groupOf.get(key);
    const demand = waits ? demandOf(pod) : undefined;
    if (before && before.demand.signature !== demand?.signature) this.#leave(before, key);
    if (!demand) return;
    const group = this.#groups.get(demand.signature) ?? { demand, pods: new Map() };
    this.#groups.set(demand.signature, group);
    const known = group.pods.has(key);
    group.pods.set(key, pod);
    this.#groupOf.set(key, group);
    if (!known) this.#try(group);
  }

  #leave(group: Group, key: string): void {
    group.pods.delete(key);
    this.#groupOf.delete(key);
    if (group.pods.size) return;
    this.#groups.delete(group.demand.signature);
    this.#todo.delete(group);
    this.#untold.delete(group);
  }

  #try(group: Group): void {
    this.#todo.add(group);
    this.#context.work.add('scheduler', () => this.#pass());
  }

  #tryAll(): void {
    for (const group of this.#groups.values()) this.#try(group);
  }

  #pass(): void {
    const end = performance.now() + sliceMs;
    const order = [...this.#todo].sort((a, b) => b.demand.priority - a.demand.priority);
    for (const group of order) {
      this.#todo.delete(group);
      this.#place(group, end);
      if (performance.now() > end) break;
    }
    if (this.#todo.size) this.#context.work.add('scheduler', () => this.#pass());
    else if (this.#untold.size) this.#context.work.add('scheduler/tell', () => this.#tell());
  }

  #place(group: Group, end: number): void {
    const { store } = this.#context;
    for (const pod of [...group.pods.values()]) {
      const chosen = this.#choose(group);
      if (!chosen) {
        this.#untold.set(group, refusal(group.demand, this.#states.all()));
        return;
      }
      const node = chosen.node.metadata.name;
      bind(store, pod, node);
      const message = `Successfully assigned ${keyOf(pod)} to ${node}`;
      record(this.#context, pod, { type: 'Normal', reason: 'Scheduled', message, component });
      if (performance.now() > end && group.pods.size) {
        this.#todo.add(group);
        return;
      }
    }
  }

  #candidates(group: Group): NodeState[] {
    if (group.candidates?.of === this.#nodesVersion) return group.candidates.nodes;
    const only = onlyNode(group.demand);
    const state = only === undefined ? undefined : this.#states.get(only);
    const among = only === undefined ? this.#states.all() : state ? [state] : [];
    const fitting = among.filter(({ node }) => mismatch(group.demand, node) === undefined);
    group.candidates = { of: this.#nodesVersion, nodes: fitting };
    return fitting;
  }

  #choose(group: Group): NodeState | undefined {
    const candidates = this.#candidates(group);
    const sign = this.#context.settings.prefer === 'least-allocated' ? 1 : -1;
    let best: { state: NodeState; score: number } | undefined;
    let fitting = 0;
    for (let index = 0; index < candidates.length && fitting < enoughNodes; index++) {
      // Starting elsewhere each time gives every node its turn, as the real scheduler does.
      const state = candidates[(this.#next + index) % candidates.length];
      if (!state || shortages(group.demand, state).length) continue;
      fitting++;
      const score = sign * fullness(group.demand, state);
      if (!best || score < best.score) best = { state, score };
    }
    this.#next = candidates.length > enoughNodes ? (this.#next + fitting) % candidates.length : 0;
    return best?.state;
  }

  /** Writes down why pods wait, some at a time. */
  #tell(): void {
    let told = 0;
    for (const [group, message] of this.#untold) {
      for (const pod of group.pods.values()) {
        if (conditionOf(pod.status.conditions, 'PodScheduled')?.message === message) continue;
        this.#refuse(pod, message);
        if (++told < tellBatch) continue;
        this.#context.work.add('scheduler/tell', () => this.#tell());
        return;
      }
      this.#untold.delete(group);
    }
  }

  #refuse(pod: Pod, message: string): void {
    const { store } = this.#context;
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    const conditions = withCondition(pod.status.conditions, condition, store.timestamp());
    store.modify(
      pods,
      pod,
      (current) => ({ ...current, status: { ...current.status, conditions } }),
      'status',
    );
    record(this.#context, pod, { type: 'Warning', reason: 'FailedScheduling', message, component });
  }
}

/**
 * Gives waiting pods a node, by the filters of the real scheduler that an autoscaler must reckon with.
 * Left out: preemption, affinity between pods, topology spread and volumes.
 */
export function schedulerController(context: Context): void {
  new Scheduler(context);
}
