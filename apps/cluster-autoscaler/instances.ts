import { providerIdOf } from '../../shared/core/cluster/match.ts';
import { capacityOf, isSetAside, lifecycle, type MachineState } from '../../shared/core/machine/lifecycle.ts';
import type { StoredOperation } from '../../shared/state/inventory.ts';
import type { HistoryEntry, MachineRecord } from '../../shared/state/machine-record.ts';
import type { Assigned, Leaving, Target } from './target.ts';

/** As the Cluster Autoscaler numbers them. */
export const instanceStates = { running: 1, creating: 2, deleting: 3 } as const;
export const errorClasses = { outOfResources: 1, other: 99 } as const;

export interface Instance {
  readonly id: string;
  /** Absent: a request that no machine was there for. */
  readonly machine?: string | undefined;
  readonly state: keyof typeof instanceStates;
  readonly error?:
    | { readonly class: keyof typeof errorClasses; readonly code: string; readonly message: string }
    | undefined;
}

/** The state of a pool. */
export interface PoolState {
  readonly name: string;
  readonly members: Iterable<MachineRecord>;
  readonly target: Target;
  readonly operation: (id: string) => StoredOperation | undefined;
}

/** What its Node has, or will have: the Cluster Autoscaler takes a machine with another one for lost. */
export const instanceId = ({ spec, status }: Pick<MachineRecord, 'spec' | 'status'>): string =>
  status.providerID ?? providerIdOf(spec);

/** As its Node will have it. */
const promisedId = ({ machine, make }: Assigned): string =>
  typeof make?.providerID === 'string' ? make.providerID : `bamel://${machine}`;

const missingPrefix = 'bamel-missing://';
const missingId = (request: string): string => `${missingPrefix}${request}`;
export const requestOf = (id: string): string | undefined =>
  id.startsWith(missingPrefix) ? id.slice(missingPrefix.length) : undefined;

/** Everything that counts or is on its way out. The target is those that are not on their way out. */
export function instancesOf({ name, members, target, operation }: PoolState): Instance[] {
  const instances: Instance[] = [];
  const assigned = new Map(target.assigned.map((one) => [one.machine, one]));
  const leaving = new Map(target.leaving.map((one) => [one.machine, one]));
  const known = new Set<string>();
  for (const record of members) {
    const machine = record.spec.name;
    known.add(machine);
    const instance = instanceOf(record, assigned.get(machine), leaving.get(machine), operation);
    if (instance) instances.push({ id: instanceId(record), machine, ...instance });
  }
  for (const one of target.assigned)
    if (!known.has(one.machine) && isToCome(one, operation))
      instances.push({ id: promisedId(one), machine: one.machine, state: 'creating' });
  for (const { id, why } of target.missing)
    instances.push({
      id: missingId(id),
      state: 'creating',
      error: { class: 'outOfResources', code: 'no-machine', message: `pool ${name}: ${why}` },
    });
  return instances;
}

export const sizeOf = (instances: readonly Instance[]): number =>
  instances.filter(({ state }) => state !== 'deleting').length;

function instanceOf(
  record: MachineRecord,
  assigned: Assigned | undefined,
  leaving: Leaving | undefined,
  operation: PoolState['operation'],
): Pick<Instance, 'state' | 'error'> | undefined {
  const { status } = record;
  const gone = isLeaving(record, leaving, operation);
  switch (capacityOf(record)) {
    case 'coming':
      return { state: gone ? 'deleting' : 'creating' };
    case 'serving':
      return { state: gone ? 'deleting' : 'running' };
    case 'leaving':
      return { state: 'deleting' };
    case 'none':
      break;
  }
  if (isSetAside(record)) return undefined;
  if (assigned && isToBegin(assigned, record, operation)) return { state: 'creating' };
  if (assigned && hasFailed(assigned, operation)) {
    const { code = 'failed', message = 'it was powered on and never joined' } = status.lastError ?? {};
    return { state: 'creating', error: { class: 'other', code, message } };
  }
  if (status.state !== 'error') return undefined;
  // Its node is there, NotReady: the Cluster Autoscaler sees that for itself.
  if (status.lastError?.code === 'node-lost') return { state: gone ? 'deleting' : 'running' };
  return status.powerState === 'on' ? { state: 'deleting' } : undefined;
}

/** Made on demand, without a record yet. */
export const isToCome = ({ operation: id, make }: Assigned, operation: PoolState['operation']): boolean =>
  make !== undefined && operation(id)?.end === undefined;

/** The machine is unchanged since it was chosen. */
export function isToBegin(
  { operation: id, since, make }: Assigned,
  record: MachineRecord | undefined,
  operation: PoolState['operation'],
): boolean {
  if (operation(id)) return false;
  return record ? record.status.state === 'off' && record.status.stateSince === since : make !== undefined;
}

/** Only what has joined was no failure; what became of it afterwards is not the promise's business. */
const hasFailed = ({ operation: id }: Assigned, operation: PoolState['operation']): boolean => {
  const found = operation(id);
  return found !== undefined && found.end !== 'done';
};

/** It was deleted since it last came on, and its drain has not been tried yet. */
export const isLeaving = (
  record: MachineRecord,
  leaving: Leaving | undefined,
  operation: PoolState['operation'],
): boolean =>
  leaving !== undefined && leaving.cameAt === cameAt(record) && operation(leaving.operation) === undefined;

/** When it last went from giving nothing to giving something. */
export const cameAt = ({ history }: Pick<MachineRecord, 'history'>): number =>
  history.findLast(isComing)?.at ?? 0;

const isComing = ({ from, to }: HistoryEntry): boolean =>
  lifecycle[from as MachineState]?.capacity === 'none' && lifecycle[to as MachineState]?.capacity !== 'none';

/** The part of a target that is still valid. */
export function tidied({ members, target, operation }: PoolState): Target {
  const records = new Map<string, MachineRecord>();
  for (const record of members) records.set(record.spec.name, record);
  return {
    missing: target.missing,
    assigned: target.assigned.filter((one) => {
      const record = records.get(one.machine);
      if (isToBegin(one, record, operation)) return true;
      if (!record) return false;
      const found = operation(one.operation);
      return capacityOf(record) === 'coming' || (found !== undefined && found.end !== 'done');
    }),
    leaving: target.leaving.filter((one) => {
      const record = records.get(one.machine);
      return record !== undefined && record.status.state !== 'off' && isLeaving(record, one, operation);
    }),
  };
}
