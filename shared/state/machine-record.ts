import type { z } from 'zod';
import type { Machine } from '../core/machine/machine.ts';
import { type MachineMetrics, type MachineStatus, newStatus } from '../core/machine/machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/store.ts';
import { type MachineInput, MachineSpec } from '../schema/machine.ts';
import { describeProblem, fieldProblems } from '../schema/zod-issue.ts';
import { decode } from './codec.ts';

import { keys, splitKey } from './keys.ts';
import type { Source } from './source.ts';
import { createStateClock } from './state-clock.ts';

/** Parses a value of the store. Other tools may write to it too, so errors name the key. */
export function parseStored<Value>(schema: z.ZodType<Value>, key: string, value: unknown): Value {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = fieldProblems(schema, parsed.error).map(describeProblem).join('; ');
  throw new Error(`${key} in the store is wrong: ${problems}`);
}

/** The records of all machines that have entries among these. */
export type RecordReader = (entries: readonly Entry[]) => MachineRecord[];

/**
 * Builds records from the entries under /baremetal/nodes/. A value is parsed once per revision: most of an
 * inventory does not change between two reads.
 */
export function createRecordReader(clock: Clock): RecordReader {
  const sinceWhen = createStateClock(clock);
  let known = new Map<string, { readonly revision: number; readonly value: unknown }>();

  return (entries) => {
    const seen: typeof known = new Map();
    const read = <Value>(entry: Entry, make: (key: string, text: string) => Value): Value => {
      const before = known.get(entry.key);
      const value =
        before?.revision === entry.revision ? (before.value as Value) : make(entry.key, entry.value);
      seen.set(entry.key, { revision: entry.revision, value });
      return value;
    };
    const records: MachineRecord[] = [];
    for (const parts of groupById(entries).values()) {
      const spec = parts.get('spec');
      if (!spec) continue;
      const part = <Value>(name: string): Value | undefined => {
        const entry = parts.get(name);
        return entry && read<Value>(entry, decode);
      };
      const described = read(spec, describe);
      const status = part<MachineStatus>('status') ?? newStatus(clock.now());
      records.push({
        ...described,
        ...(status.setAside && { spec: { ...described.spec, maintenance: true } }),
        status,
        since: sinceWhen(described.input.name, status),
        metrics: part<MachineMetrics>('metrics') ?? {},
        history: part<{ entries: HistoryEntry[] }>('events')?.entries ?? [],
        source: part<Source>('source'),
        revisions: {
          spec: spec.revision,
          status: parts.get('status')?.revision ?? 0,
          metrics: parts.get('metrics')?.revision ?? 0,
          events: parts.get('events')?.revision ?? 0,
        },
      });
    }
    // Reading one machine must not drop the cache of the others; the next full read drops removed machines.
    if (seen.size >= known.size / 2) known = seen;
    else for (const [key, value] of seen) known.set(key, value);
    return records;
  };
}

function describe(key: string, text: string): Pick<MachineRecord, 'input' | 'spec'> {
  const input = decode<MachineInput>(key, text);
  return { input, spec: parseStored(MachineSpec, key, input) };
}

function groupById(entries: readonly Entry[]): Map<string, Map<string, Entry>> {
  const groups = new Map<string, Map<string, Entry>>();
  for (const entry of entries) {
    const { id, part } = splitKey(entry.key, keys.nodes);
    const group = groups.get(id) ?? new Map<string, Entry>();
    groups.set(id, group.set(part, entry));
  }
  return groups;
}

/** Something that happened to a machine. The last few are kept with it. */
export interface HistoryEntry {
  readonly at: number;
  readonly by: string;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly why?: string | undefined;
  /** Of the reason, where the core gave one. */
  readonly code?: string | undefined;
  readonly operation?: string | undefined;
}

/** A machine as read from the store, with what a compare-and-swap needs. */
export interface MachineRecord extends Machine {
  /** Since when it has been in its state, by our own clock where we saw that happen. */
  readonly since: number;
  /** The spec as it stands in the store, for copying into an operation. */
  readonly input: MachineInput;
  readonly history: readonly HistoryEntry[];
  /** Who describes it, where that is not the file. */
  readonly source?: Source | undefined;
  readonly revisions: {
    readonly spec: number;
    readonly status: number;
    readonly metrics: number;
    readonly events: number;
  };
}
