import type { ClusterView, Node } from '../core/cluster/cluster.ts';
import { bamelKeys } from '../core/cluster/names.ts';
import { protection } from '../core/cluster/protect.ts';
import type { Reason } from '../core/reasons/reason.ts';
import type { Settings } from '../core/settings.ts';
import type { MachineRecord } from '../state/machine-record.ts';

/** Why this node must not be drained, checked right before the drain. */
export function drainRefusal(
  record: MachineRecord,
  node: Node,
  { nodes }: ClusterView,
  { protect }: Settings,
  ownNode: string | undefined,
  mayBeLast: boolean,
): Reason | undefined {
  const guard = protection(record, node, protect, ownNode);
  if (guard) return guard;
  if (node.annotations[bamelKeys.cordonedBy] === record.status.operation && !node.unschedulable)
    return { code: 'uncordoned' };
  if (mayBeLast) return undefined;
  if (!nodes.some(({ name, ready, unschedulable }) => ready && !unschedulable && name !== node.name))
    return { code: 'last-open-node' };
  return undefined;
}
