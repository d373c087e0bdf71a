import type { Resources } from '../cluster/resources.ts';
import type { Group } from '../decide/demand.ts';

/** How large pods are, all resources on one scale. */
export interface Sizes {
  /** What a pod of the group is of all that is asked for: the mean over resources. All groups together: 1. */
  readonly share: Float64Array;
  /** What it is of the largest machine there is, of the resource it asks most of. */
  readonly dominant: Float64Array;
}

export function measure(groups: readonly Group[], machines: readonly Resources[]): Sizes {
  const totals = new Map<string, number>([['pods', 0]]);
  for (const { kind, pods } of groups) {
    add(totals, 'pods', pods.length);
    for (const [name, amount] of Object.entries(kind.requests)) add(totals, name, amount * pods.length);
  }
  const largest = new Map<string, number>();
  for (const machine of machines)
    for (const [name, amount] of Object.entries(machine))
      largest.set(name, Math.max(largest.get(name) ?? 0, amount));
  // The slot counts little beside real resources, but pods that ask for nothing must count for something.
  const slot = 0.01;
  const named = [...totals].filter(([name, total]) => name !== 'pods' && total > 0);
  const scale = named.length + slot;
  const share = new Float64Array(groups.length);
  const dominant = new Float64Array(groups.length);
  for (const [index, { kind }] of groups.entries()) {
    let sum = slot / (totals.get('pods') ?? 1);
    let most = 0;
    for (const [name, total] of named) {
      const amount = kind.requests[name] ?? 0;
      sum += amount / total;
      most = Math.max(most, amount / (largest.get(name) || total));
    }
    share[index] = sum / scale;
    dominant[index] = most;
  }
  return { share, dominant };
}

const add = (sums: Map<string, number>, name: string, amount: number): void => {
  sums.set(name, (sums.get(name) ?? 0) + amount);
};
