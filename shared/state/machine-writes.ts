import { isNews, type Measured } from '../core/machine/health.ts';
import type { MachineEvent } from '../core/machine/lifecycle.ts';
import type { MachineMetrics, MachineStatus, PowerVerb } from '../core/machine/machine.ts';
import { transition } from '../core/machine/transition.ts';
import type { Settings } from '../core/settings.ts';
import type { Condition, Lease, Write } from '../ports/store.ts';
import { encode } from './codec.ts';
import type { Inventory, OperationRecord, StoredOperation } from './inventory.ts';
import { keys } from './keys.ts';
import type { HistoryEntry, MachineRecord } from './machine-record.ts';

/** How many things that happened to a machine are kept with it. */
const historyLength = 50;

/** How many steps of a boot are kept with its operation. */
const progressLength = 30;

/** All that the store keeps of a machine. */
const recordParts = ['spec', 'status', 'metrics', 'events', 'source'] as const;

export interface EventInput {
  readonly event: MachineEvent;
  readonly by: string;
  readonly why?: string | undefined;
  /** What was seen just now, kept in the same commit and known to the guards. */
  readonly observed?: Partial<MachineStatus> | undefined;
  /** The intent, for events that begin an operation. */
  readonly begins?: StoredOperation | undefined;
  /** It is made on demand: its description comes into being with the intent. */
  readonly creates?: MachineRecord['input'] | undefined;
  /** It was made on demand and is gone: so is its record. */
  readonly removes?: boolean | undefined;
  readonly lease: Lease;
  readonly settings: Settings;
  readonly now: number;
}

export type ChangeResult =
  | { readonly kind: 'changed'; readonly from: string; readonly to: string }
  /** The lifecycle says no. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Somebody else wrote, or the lease is gone: read again. */
  | { readonly kind: 'conflict' };

/** Lets an event happen to a machine: state, history and operation in one fenced compare-and-swap. */
export async function applyEvent(
  inventory: Inventory,
  record: MachineRecord,
  { event, by, why, observed, begins, creates, removes, lease, settings, now }: EventInput,
): Promise<ChangeResult> {
  const seen = { ...record, status: { ...record.status, ...observed } };
  const result = transition(seen, event, now, settings.timings);
  if (!result.ok) return { kind: 'refused', why: result.why };
  const { name } = record.spec;
  const from = record.status.state;
  const to = result.status.state;
  const text = why ?? ('message' in event ? event.message : 'why' in event ? event.why : undefined);
  const operation = begins?.id ?? record.status.operation;
  const entry: HistoryEntry = { at: now, by, event: event.type, from, to, why: text, operation };
  const conditions: Condition[] = [
    lease.fence,
    { key: keys.node(name, 'status'), revision: record.revisions.status },
    { key: keys.node(name, 'events'), revision: record.revisions.events },
  ];
  const writes: Write[] = removes
    ? recordParts.map((part) => ({ delete: keys.node(name, part) }))
    : [
        { put: keys.node(name, 'status'), value: encode(result.status) },
        {
          put: keys.node(name, 'events'),
          value: encode({ entries: [...record.history, entry].slice(-historyLength) }),
        },
      ];
  let ending: OperationRecord | undefined;
  if (begins) {
    conditions.push(
      { key: keys.operation(begins.id), revision: 0 },
      // The machine must still be described as the decision saw it.
      { key: keys.node(name, 'spec'), revision: record.revisions.spec },
    );
    writes.push({ put: keys.operation(begins.id), value: encode(begins) });
    if (creates) writes.push({ put: keys.node(name, 'spec'), value: encode(creates) });
  } else if (result.ends && record.status.operation) {
    ending = await inventory.operation(record.status.operation);
    if (ending) {
      conditions.push({ key: keys.operation(ending.stored.id), revision: ending.revision });
      writes.push({
        put: keys.operation(ending.stored.id),
        value: encode({
          ...ending.stored,
          ...(event.type === 'joined' && withProgress(ending.stored, `node ${event.node} is Ready`, now)),
          end: result.ends,
          endedAt: now,
          ...(result.ends !== 'done' && { error: text }),
        }),
      });
    }
  }
  const { committed } = await inventory.store.commit(conditions, writes);
  if (!committed) return { kind: 'conflict' };
  const { bootTime } = record.status;
  inventory.onStateChange?.({
    pool: record.spec.pool,
    goal: ending?.stored.goal,
    end: ending && result.ends,
    bootMs: event.type === 'joined' && bootTime !== undefined ? now - bootTime : undefined,
  });
  return { kind: 'changed', from, to };
}

/** Describes a machine that was made on demand anew, in another size. False: somebody else wrote, so look again. */
export async function resize(
  { store }: Inventory,
  { spec, status, history, revisions }: MachineRecord,
  input: MachineRecord['input'],
  { by, why, lease, now }: Pick<EventInput, 'by' | 'why' | 'lease' | 'now'>,
): Promise<boolean> {
  const [description, events] = [keys.node(spec.name, 'spec'), keys.node(spec.name, 'events')];
  const entry: HistoryEntry = { at: now, by, event: 'resized', from: status.state, to: status.state, why };
  const { committed } = await store.commit(
    [
      lease.fence,
      { key: description, revision: revisions.spec },
      // Every change of its state is told there.
      { key: events, revision: revisions.events },
    ],
    [
      { put: description, value: encode(input) },
      { put: events, value: encode({ entries: [...history, entry].slice(-historyLength) }) },
    ],
  );
  return committed;
}

/** Writes down what was seen of a machine, where it differs, without changing its state. */
export async function saveObservation(
  inventory: Inventory,
  record: MachineRecord,
  observed: Partial<MachineStatus>,
): Promise<boolean> {
  const known: Partial<Record<string, unknown>> = { ...record.status };
  if (
    Object.entries(observed).every(([name, value]) => JSON.stringify(known[name]) === JSON.stringify(value))
  )
    return true;
  const key = keys.node(record.spec.name, 'status');
  const { committed } = await inventory.store.commit(
    [{ key, revision: record.revisions.status }],
    [{ put: key, value: encode({ ...record.status, ...observed }) }],
  );
  return committed;
}

/** Remembers something between evaluations. */
export async function saveIdle(
  inventory: Inventory,
  record: MachineRecord,
  metrics: MachineMetrics,
  lease: Lease,
): Promise<void> {
  const key = keys.node(record.spec.name, 'metrics');
  await inventory.store.commit(
    [lease.fence, { key, revision: record.revisions.metrics }],
    [{ put: key, value: encode({ ...record.metrics, ...metrics }) }],
  );
}

/** Keeps what a BMC measured. Somebody else's write meanwhile wins: the next look measures again. */
export async function saveMeasured(
  inventory: Inventory,
  record: MachineRecord,
  measured: Measured | undefined,
  now: number,
  log = record.metrics.log,
): Promise<void> {
  const news = measured && isNews(record.metrics, measured, now) ? { ...measured, at: now } : undefined;
  if (!news && log === record.metrics.log) return;
  const key = keys.node(record.spec.name, 'metrics');
  await inventory.store.commit(
    [
      { key, revision: record.revisions.metrics },
      // Not for a machine that has just been removed.
      { key: keys.node(record.spec.name, 'spec'), revision: record.revisions.spec },
    ],
    [{ put: key, value: encode({ ...record.metrics, ...news, log }) }],
  );
}

/** Writes down how far a boot has come. What is known already, or whose operation is over, is not written. */
export async function appendBootProgress(
  inventory: Inventory,
  operation: string,
  what: string,
  now: number,
): Promise<boolean> {
  const found = await inventory.operation(operation);
  if (!found || found.stored.end || found.stored.progress?.some((step) => step.what === what)) return false;
  const key = keys.operation(operation);
  const { committed } = await inventory.store.commit(
    [{ key, revision: found.revision }],
    [{ put: key, value: encode({ ...found.stored, ...withProgress(found.stored, what, now) }) }],
  );
  return committed;
}

const withProgress = (
  { progress = [] }: StoredOperation,
  what: string,
  now: number,
): Pick<StoredOperation, 'progress'> => ({
  progress: [...progress, { at: now, what }].slice(-progressLength),
});

/** What else has to hold, and to be written, with a command. */
export interface ExtraWrites {
  readonly conditions: readonly Condition[];
  readonly writes: readonly Write[];
}

/** Writes a command down before it is sent. False: the operation is no longer ours to carry out. */
export async function recordCommand(
  inventory: Inventory,
  record: MachineRecord,
  { stored, revision }: OperationRecord,
  verb: PowerVerb,
  lease: Lease,
  now: number,
  extra?: ExtraWrites,
): Promise<boolean> {
  const statusKey = keys.node(record.spec.name, 'status');
  const { committed } = await inventory.store.commit(
    [
      lease.fence,
      { key: keys.operation(stored.id), revision },
      { key: statusKey, revision: record.revisions.status },
      ...(extra?.conditions ?? []),
    ],
    [
      {
        put: keys.operation(stored.id),
        value: encode({ ...stored, commands: [...stored.commands, { verb, at: now }] }),
      },
      {
        put: statusKey,
        value: encode({
          ...record.status,
          lastPowerAction: verb,
          powerActionTime: now,
          // On is sent only once off has been read to be sure: whatever was pending has come.
          pendingOff: verb === 'on' ? undefined : { verb, at: now },
        }),
      },
      ...(extra?.writes ?? []),
    ],
  );
  return committed;
}
