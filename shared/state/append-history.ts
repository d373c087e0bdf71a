import type { MachineStatus } from '../core/machine/machine.ts';
import type { Lease } from '../ports/store.ts';
import { encode } from './codec.ts';
import type { Inventory } from './inventory.ts';
import { keys } from './keys.ts';
import type { MachineRecord } from './machine-record.ts';

/** Same limit as in machine-writes.ts. */
const historyLength = 50;

export interface HistoryNote {
  readonly event: string;
  readonly by: string;
  readonly why: string;
  readonly observed?: Partial<MachineStatus>;
  readonly lease: Lease;
  readonly now: number;
}

/**
 * Appends an action of a person that does not change the machine's state. False: the machine changed, read it
 * again.
 */
export async function appendHistory(
  { store }: Inventory,
  { spec: { name }, status, history, revisions }: MachineRecord,
  { event, by, why, observed, lease, now }: HistoryNote,
): Promise<boolean> {
  const entry = { at: now, by, event, from: status.state, to: status.state, why };
  const [statusKey, eventsKey] = [keys.node(name, 'status'), keys.node(name, 'events')];
  const { committed } = await store.commit(
    [
      lease.fence,
      { key: statusKey, revision: revisions.status },
      { key: eventsKey, revision: revisions.events },
    ],
    [
      { put: statusKey, value: encode({ ...status, ...observed }) },
      { put: eventsKey, value: encode({ entries: [...history, entry].slice(-historyLength) }) },
    ],
  );
  return committed;
}
