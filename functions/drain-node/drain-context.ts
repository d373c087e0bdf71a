import type { Node } from '../../shared/core/cluster/cluster.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';

/** The context of one step of a drain. */
export interface DrainContext {
  readonly deps: Deps;
  readonly record: MachineRecord;
  readonly settings: Settings;
  readonly lease: Lease;
}

/** Records a Kubernetes Event for the node. */
export const recordNodeEvent = (
  { cluster }: Deps,
  { name }: Node,
  type: 'Normal' | 'Warning',
  reason: string,
  text: string,
): Promise<void> => cluster.recordEvent({ kind: 'Node', name }, type, reason, `bamel: ${text}`);
