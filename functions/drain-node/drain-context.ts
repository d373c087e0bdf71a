import type { Node } from '../../shared/core/cluster/cluster.ts';
import type { Settings } from '../../shared/core/settings.ts';
import type { Lease } from '../../shared/ports/store.ts';
import type { MachineRecord } from '../../shared/state/machine-record.ts';
import type { Deps } from '../deps.ts';

/** A drain that is under way, in one invocation. */
export interface DrainContext {
  readonly deps: Deps;
  readonly record: MachineRecord;
  readonly settings: Settings;
  readonly lease: Lease;
}

/** A Kubernetes Event on the node. */
export const recordNodeEvent = (
  { cluster }: Deps,
  { name }: Node,
  type: 'Normal' | 'Warning',
  reason: string,
  text: string,
): Promise<void> => cluster.tell({ kind: 'Node', name }, type, reason, `bamel: ${text}`);
