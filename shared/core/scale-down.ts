import type { Node } from './cluster.ts';
import type { Candidate, Decision, Intent } from './decision.ts';
import { capacityOf } from './lifecycle.ts';
import type { Machine } from './machine.ts';
import type { PoolSpec } from './settings.ts';
import { busyPods, count, nodeOf, type Snapshot } from './snapshot.ts';
import { seconds } from './text.ts';
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
  const pools = new Map(snapshot.pools.map((pool) => [pool.name, pool]));
  const spare = new Map(snapshot.pools.map((pool) => [pool.name, spareMachines(pool, snapshot)]));
  let readyNodes = snapshot.cluster.nodes.filter((node) => node.ready).length;

  for (const machine of snapshot.machines) {
    if (capacityOf(machine) !== 'serving') continue;
    const { name } = machine.spec;
    const node = nodeOf(machine, snapshot.cluster);
    const idleSince = isIdle(node, snapshot) ? idleAlready(machine, now) : undefined;
    if (idleSince !== machine.metrics.idleSince) idle.push({ machine: name, idleSince });
    const pool = pools.get(machine.spec.pool);
    const why =
      reasonToKeep(machine, node, idleSince, pool, snapshot, now) ??
      ((spare.get(machine.spec.pool) ?? 0) <= 0
        ? `pool ${machine.spec.pool} keeps at least ${pool?.limits.minNodes} on`
        : readyNodes <= 1
          ? 'it is the last Ready node'
          : undefined);
    if (why) {
      candidates.push({ machine: name, verdict: 'kept', why });
      continue;
    }
    const idleFor = `nothing has needed it for ${seconds(now - (idleSince ?? now))}`;
    intents.push({ kind: 'drain', machine: name, why: idleFor });
    candidates.push({ machine: name, verdict: 'drain', why: idleFor, watts: machine.spec.watts?.idle });
    spare.set(machine.spec.pool, (spare.get(machine.spec.pool) ?? 0) - 1);
    readyNodes -= 1;
  }
  return { intents, candidates, idle };
}

/** Idle time counts anew whenever a machine begins to serve. */
function idleAlready({ metrics, status }: Machine, now: number): number {
  return metrics.idleSince !== undefined && metrics.idleSince >= status.stateSince ? metrics.idleSince : now;
}

function isIdle(node: Node | undefined, { cluster }: Snapshot): node is Node {
  return node !== undefined && busyPods(cluster, node.name).length === 0;
}

function reasonToKeep(
  machine: Machine,
  node: Node | undefined,
  idleSince: number | undefined,
  pool: PoolSpec | undefined,
  snapshot: Snapshot,
  now: number,
): string | undefined {
  if (!pool) return `its pool ${machine.spec.pool} is not defined`;
  if (!node) return 'its node is not in the cluster';
  if (!node.ready) return 'its node is not Ready: what runs on it is not known';
  const protection = protectedBy(machine, node, snapshot.settings.protect);
  if (protection) return `protected by ${protection}`;
  const busy = busyPods(snapshot.cluster, node.name);
  if (busy[0])
    return `${busy.length} ${busy.length === 1 ? 'pod needs' : 'pods need'} it, for one ${busy[0].namespace}/${busy[0].name}`;
  if (idleSince === undefined || now - idleSince < pool.scaleDown.unneededForMs)
    return `idle, but not for ${seconds(pool.scaleDown.unneededForMs)} yet`;
  const asked = transition(
    machine,
    { type: 'drain-requested', operation: '' },
    now,
    snapshot.settings.timings,
  );
  return asked.ok ? undefined : asked.why;
}

/** `control-plane`, `name=nas`, a label key, or key=value: the first that matches. */
function protectedBy({ spec }: Machine, node: Node, protect: readonly string[]): string | undefined {
  const labels: Record<string, string> = { ...spec.labels, ...node.labels };
  return protect.find((entry) => {
    if (entry === 'control-plane') return 'node-role.kubernetes.io/control-plane' in labels;
    const [key = '', value] = entry.split('=', 2);
    if (key === 'name') return value === spec.name || value === node.name;
    return value === undefined ? key in labels || key === spec.name : labels[key] === value;
  });
}

/** How many of a pool's serving machines may go without falling below its minimum. */
function spareMachines(pool: PoolSpec, { machines }: Snapshot): number {
  return (
    count(
      machines.filter(({ spec }) => spec.pool === pool.name),
      'serving',
    ) - pool.limits.minNodes
  );
}
