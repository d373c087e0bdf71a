import type { Node, Pod } from './cluster.ts';
import type { Candidate, Decision, Intent } from './decision.ts';
import type { Place } from './fit.ts';
import { capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import { place } from './pack.ts';
import { add } from './resources.ts';
import type { PoolSpec } from './settings.ts';
import { busyPods, count, nodeOf, openNodes, podName, type Snapshot, waitingPods } from './snapshot.ts';
import { byText, plural, seconds } from './text.ts';
import { transition } from './transition.ts';

export interface ScaleDown {
  readonly intents: readonly Intent[];
  readonly candidates: readonly Candidate[];
  readonly idle: Decision['idle'];
}

/** Machines that nobody has needed for long enough → drain. */
export function scaleDown(snapshot: Snapshot, now: number): ScaleDown {
  const intents: Intent[] = [];
  const candidates: Candidate[] = [];
  const idle: { machine: string; idleSince: number | undefined }[] = [];
  const spare = new Map(snapshot.pools.map((pool) => [pool.name, spareMachines(pool, snapshot)]));
  // What is left of every node as the round goes on, and which nodes were promised pods.
  let open = openNodes(snapshot);
  const promised = new Set<string>();
  // Pods that wait though there is room only wait for the scheduler: the room is not taken from them.
  for (const pod of waitingPods(snapshot.cluster)) {
    const to = place(pod, open);
    if (to) promised.add(to);
  }
  let readyNodes = snapshot.cluster.nodes.filter((node) => node.ready).length;

  const serving = snapshot.machines
    .filter((machine) => capacityOf(machine) === 'serving')
    .map((machine) => ({ machine, use: utilization(machine, snapshot) }))
    .sort((a, b) => a.use - b.use || byText(a.machine.spec.name, b.machine.spec.name));
  for (const { machine } of serving) {
    const { name, pool: poolName } = machine.spec;
    const pool = snapshot.pools.find((candidate) => candidate.name === poolName);
    const node = nodeOf(machine, snapshot.cluster);
    const moved = node && !promised.has(node.name) ? moveAway(node, open, snapshot) : undefined;
    const unneeded = moved !== undefined && typeof moved !== 'string';
    const idleSince = unneeded ? idleAlready(machine, now) : undefined;
    if (idleSince !== machine.metrics.idleSince) idle.push({ machine: name, idleSince });

    const why =
      notToTouch(machine, node, pool, snapshot, now) ??
      (typeof moved === 'string' ? moved : undefined) ??
      (unneeded ? undefined : 'pods are to come here') ??
      tooSoon(idleSince, pool, now) ??
      ((spare.get(poolName) ?? 0) <= 0
        ? `pool ${poolName} keeps at least ${pool?.limits.minNodes} on`
        : undefined) ??
      (readyNodes <= 1 ? 'it is the last Ready node' : undefined);
    if (why || !unneeded) {
      candidates.push({ machine: name, verdict: 'kept', why: why ?? '' });
      continue;
    }
    const text = `nothing has needed it for ${seconds(now - (idleSince ?? now))}${moved.pods > 0 ? `: its ${moved.pods} ${plural(moved.pods, 'pod')} fit elsewhere` : ''}`;
    intents.push({ kind: 'drain', machine: name, why: text });
    candidates.push({ machine: name, verdict: 'drain', why: text, watts: machine.spec.watts?.idle });
    open = moved.open;
    for (const to of moved.to) promised.add(to);
    spare.set(poolName, (spare.get(poolName) ?? 0) - 1);
    readyNodes -= 1;
  }
  return { intents, candidates, idle };
}

/** Where all pods of a node would go, or why it must stay. */
function moveAway(
  node: Node,
  open: readonly Place[],
  { cluster, settings }: Snapshot,
): string | { readonly pods: number; readonly open: Place[]; readonly to: readonly string[] } {
  const pods = busyPods(cluster, node.name);
  const others = open.filter(({ name }) => name !== node.name);
  const to: string[] = [];
  for (const pod of pods) {
    if (!pod.movable) return `${podName(pod)} runs on it and cannot be moved`;
    if (usage(node, pods) > settings.scaleDownThreshold)
      return `${Math.round(usage(node, pods) * 100)} % of it are in use, for one by ${podName(pod)}`;
    const target = place(pod, others);
    if (!target) return `${podName(pod)} runs on it and fits nowhere else`;
    to.push(target);
  }
  return { pods: pods.length, open: others, to };
}

/** The larger share of cpu and memory that pods ask for. */
function usage(node: Node, pods: readonly Pod[]): number {
  const used = pods.map((pod) => pod.requests).reduce(add, {});
  const share = (name: string): number =>
    (used[name] ?? 0) / (node.allocatable[name] || Number.POSITIVE_INFINITY);
  return Math.max(share('cpu'), share('memory'));
}

function utilization(machine: Machine, { cluster }: Snapshot): number {
  const node = nodeOf(machine, cluster);
  return node ? usage(node, busyPods(cluster, node.name)) : 0;
}

/** Idle time counts anew whenever a machine begins to serve. */
function idleAlready({ metrics, status }: Machine, now: number): number {
  return metrics.idleSince !== undefined && metrics.idleSince >= status.stateSince ? metrics.idleSince : now;
}

function tooSoon(idleSince: number | undefined, pool: PoolSpec | undefined, now: number): string | undefined {
  const wanted = pool?.scaleDown.unneededForMs ?? 0;
  return now - (idleSince ?? now) < wanted ? `not needed, but not for ${seconds(wanted)} yet` : undefined;
}

function notToTouch(
  machine: Machine,
  node: Node | undefined,
  pool: PoolSpec | undefined,
  { settings }: Snapshot,
  now: number,
): string | undefined {
  if (!pool) return `its pool ${machine.spec.pool} is not defined`;
  if (!node) return 'its node is not in the cluster';
  if (!node.ready) return 'its node is not Ready: what runs on it is not known';
  const protection = protectedBy(machine, node, settings.protect);
  if (protection) return `protected by ${protection}`;
  const asked = transition(machine, { type: 'drain-requested', operation: '' }, now, settings.timings);
  return asked.ok ? undefined : asked.why;
}

/** `control-plane`, `name=nas`, a label key, or key=value: the first that matches. */
function protectedBy({ spec }: Machine, node: Node, protect: readonly string[]): string | undefined {
  const labels: Record<string, string> = { ...spec.labels, ...node.labels };
  return protect.find((entry) => {
    if (entry === 'control-plane') return 'node-role.kubernetes.io/control-plane' in labels;
    const [key = '', value] = entry.split('=', 2);
    if (key === 'name') return value === spec.name || value === node.name;
    return value === undefined ? key in labels : labels[key] === value;
  });
}

/** How many of a pool's serving machines may go without falling below its minimum. */
function spareMachines(pool: PoolSpec, { machines }: Snapshot): number {
  const members = machines.filter(({ spec }) => spec.pool === pool.name);
  return count(members, 'serving') - pool.limits.minNodes;
}
