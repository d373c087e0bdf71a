import type { MachineRecord } from '../../shared/adapters/inventory.ts';
import type { ClusterView, Node } from '../../shared/core/cluster.ts';
import { protection } from '../../shared/core/protect.ts';
import type { Settings } from '../../shared/core/settings.ts';
import { cordonedBy } from '../deps.ts';

/** Why this node is not emptied, whoever asked for it: looked at afresh, for much may have changed since. */
export function whyNot(
  record: MachineRecord,
  node: Node,
  { nodes }: ClusterView,
  { protect }: Settings,
  ownNode: string | undefined,
  mayBeLast: boolean,
): string | undefined {
  const guard = protection(record, node, protect, ownNode);
  if (guard) return guard;
  if (node.annotations[cordonedBy] === record.status.operation && !node.unschedulable)
    return 'somebody uncordoned it meanwhile';
  if (mayBeLast) return undefined;
  if (!nodes.some(({ name, ready, unschedulable }) => ready && !unschedulable && name !== node.name))
    return 'it is the last Ready node that takes pods';
  return undefined;
}
