import type { Node, Taint } from '../../shared/core/cluster/cluster.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';

/** The node is initialized: removes its startup taints. */
export async function removeStartupTaints(
  { cluster, log }: Deps,
  { spec }: MachineRecord,
  { name }: Node,
  taints: readonly Taint[],
  lease: Lease,
): Promise<string | undefined> {
  if (lease.remainingMs() === 0) return undefined;
  await cluster.changeNode(name, { removeTaints: taints });
  const keys = taints.map(({ key }) => key).join(', ');
  log.info(
    { step: 'join', machine: spec.name, node: name, taints: keys, text: `is initialized: ${keys} removed` },
    'startup taints removed',
  );
  return 'startup taints removed';
}
