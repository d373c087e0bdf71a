import { isNews, type Measured } from '../core/machine/health.ts';
import type { MachineEvent } from '../core/machine/lifecycle.ts';
import type { MachineMetrics, MachineStatus, PowerVerb } from '../core/machine/machine.ts';
import { transition } from '../core/machine/transition.ts';
import type { Reason } from '../core/reasons/reason.ts';
import type { Settings } from '../core/settings.ts';
import type { Condition, Lease, Write } from '../ports/store.ts';
import { encode } from './codec.ts';
import type { Inventory, OperationRecord, StoredOperation } from './inventory.ts';
import { keys } from './keys.ts';
import type { HistoryEntry, MachineRecord } from './machine-record.ts';

/** Maximum number of history entries of a machine. */
const historyLength = 50;

/** Maximum number of boot progress entries of an operation. */
const progressLength = 30;

/** All parts of a machine in the store. */
const recordParts = ['spec', 'status', 'metrics', 'events', 'source'] as const;

export interface EventInput {
  readonly event: MachineEvent;
  readonly by: string;
  readonly why?: string | undefined;
  /** Current observations, stored in the same commit and visible to the guards. */
  readonly observed?: Partial<MachineStatus> | undefined;
  /** The intent, for events that start an operation. */
  readonly begins?: StoredOperation | undefined;
  /** The machine is made on demand: its spec is created with the intent. */
  readonly creates?: MachineRecord['input'] | undefined;
  /** The machine was made on demand and no longer exists: its record is deleted. */
  readonly removes?: boolean | undefined;
  readonly lease: Lease;
  readonly settings: Settings;
  readonly now: number;
}

export type ChangeResult =
  | { readonly kind: 'changed'; readonly from: string; readonly to: string }
  /** The lifecycle does not allow the event. */
  | { readonly kind: 'refused'; readonly why: string; readonly reason: Reason }
  /** The machine changed, or the lease is lost: read again. */
  | { readonly kind: 'conflict' };

/** Applies an event to a machine: state, history and operation in one fenced compare-and-swap. */
export async function applyEvent(
  inventory: Inventory,
  record: MachineRecord,
  { event, by, why, observed, begins, creates, removes, lease, settings, now }: EventInput,
): Promise<ChangeResult> {
  const seen = { ...record, status: { ...record.status, ...observed } };
  const result = transition(seen, event, now, settings.timings);
  if (!result.ok) return { kind: 'refused', why: result.why, reason: result.reason };
  const { name } = record.spec;
  const from = record.status.state;
  const to = result.status.state;
  const text = why ?? ('message' in event ? event.message : 'why' in event ? event.why : undefined);
  const operation = begins?.id ?? record.status.operation;
  const code = 'reason' in event ? event.reason?.code : undefined;
  const entry: HistoryEntry = { at: now, by, event: event.type, from, to, why: text, code, operation };
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
      // The spec must still be the one that the decision used.
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

/** Stores another size in the spec of a machine made on demand. False: the machine changed, read it again. */
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
      // Every change of its state is appended there.
      { key: events, revision: revisions.events },
    ],
    [
      { put: description, value: encode(input) },
      { put: events, value: encode({ entries: [...history, entry].slice(-historyLength) }) },
    ],
  );
  return committed;
}

/** Saves changed observations of a machine without changing its state. */
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

/** Two conditions for each machine, and the fence, within the store's limit of 100. */
const metricsPerCommit = 45;

export interface MetricsNews {
  readonly record: MachineRecord;
  readonly metrics: MachineMetrics;
}

/** Saves what an evaluation found about machines. A concurrent write wins: the next evaluation repeats it. */
export async function saveMetrics(
  { store }: Inventory,
  news: readonly MetricsNews[],
  lease: Lease,
): Promise<void> {
  const save = (some: readonly MetricsNews[]) =>
    store.commit(
      [lease.fence, ...some.flatMap(({ record }) => ifUnchanged(record))],
      some.map(({ record, metrics }) => ({
        put: keys.node(record.spec.name, 'metrics'),
        value: encode({ ...record.metrics, ...metrics }),
      })),
    );
  for (let from = 0; from < news.length; from += metricsPerCommit) {
    const batch = news.slice(from, from + metricsPerCommit);
    const { committed } = await save(batch);
    // One machine that changed meanwhile does not keep the others from being saved.
    if (!committed && batch.length > 1) for (const one of batch) await save([one]);
  }
}

/** The second condition does not bring back a machine that has just been removed. */
const ifUnchanged = ({ spec, revisions }: MachineRecord): Condition[] => [
  { key: keys.node(spec.name, 'metrics'), revision: revisions.metrics },
  { key: keys.node(spec.name, 'spec'), revision: revisions.spec },
];

/** Saves the measurements of a BMC. A concurrent write wins: the next read measures again. */
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
  await inventory.store.commit(ifUnchanged(record), [
    { put: key, value: encode({ ...record.metrics, ...news, log }) },
  ]);
}

/** Appends a boot step to the operation. A known step, and a step of an ended operation, are not written. */
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

/** Additional conditions and writes of the commit that records a command. */
export interface ExtraWrites {
  readonly conditions: readonly Condition[];
  readonly writes: readonly Write[];
}

/** Records a command before it is sent. False: the operation changed or the lease is lost. */
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
          // On is sent only after off was read reliably, so no earlier off command can still be pending.
          pendingOff: verb === 'on' ? undefined : { verb, at: now },
        }),
      },
      ...(extra?.writes ?? []),
    ],
  );
  return committed;
}
