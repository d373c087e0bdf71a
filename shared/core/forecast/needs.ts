import type { Snapshot } from '../decide/snapshot.ts';
import { podName } from '../decide/snapshot.ts';
import type { Machine } from '../machine/machine.ts';

/** What each place holds or is to hold of each resource. */
type Assigned = readonly { readonly pods: readonly string[]; readonly on: string }[];

/**
 * How many machines of its usual size each pool needs, by the resource that is shortest. Counted by requests and not by
 * machines that have pods: pods spread over whatever is on, and what a forecast added must not look like need.
 */
export function needsOf({ machines, pools, cluster }: Snapshot, assigned: Assigned): Map<string, number> {
  const poolOf = new Map<string, string>();
  for (const { spec, status } of machines) {
    poolOf.set(spec.name, spec.pool);
    if (status.kubernetesNode !== undefined) poolOf.set(status.kubernetesNode, spec.pool);
  }
  const placed = new Map(assigned.flatMap(({ pods, on }) => pods.map((pod): [string, string] => [pod, on])));
  const used = new Map(pools.map(({ name }) => [name, new Map<string, number>()]));
  for (const pod of cluster.pods) {
    if (pod.finished || pod.belongsToNode) continue;
    const on = pod.node ?? placed.get(podName(pod));
    const sums = on === undefined ? undefined : used.get(poolOf.get(on) ?? '');
    if (!sums) continue;
    for (const [name, amount] of Object.entries(pod.requests)) sums.set(name, (sums.get(name) ?? 0) + amount);
  }
  return new Map(
    [...used].map(([pool, sums]) => {
      const members = machines.filter(({ spec }) => spec.pool === pool);
      return [pool, Math.min(members.length, machinesFor(sums, members))];
    }),
  );
}

function machinesFor(sums: ReadonlyMap<string, number>, members: readonly Machine[]): number {
  let most = 0;
  for (const [name, amount] of sums) {
    const sizes = members.flatMap(({ spec }) => spec.resources[name] ?? []).filter((size) => size > 0);
    if (sizes.length === 0) continue;
    const usual = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    most = Math.max(most, Math.ceil(amount / usual - 1e-6));
  }
  return most;
}
