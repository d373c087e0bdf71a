import { z } from 'zod';
import type { Entry, Store, Write } from '../ports/store.ts';
import { bytesOf, maxCommitBytes, maxPerCommit } from '../ports/store.ts';
import { keys } from './keys.ts';

const root = '/baremetal/';

/** The first line of a backup; every other line is a Record. */
const Header = z.object({
  format: z.literal('bamel-backup'),
  version: z.literal(1),
  revision: z.number().int(),
  at: z.iso.datetime(),
  keys: z.number().int().nonnegative(),
});
type Header = z.infer<typeof Header>;
const Record = z.object({ key: z.string().startsWith(root), value: z.string() });
type Record = z.infer<typeof Record>;

export type Progress = (done: number, of: number) => void;

/** One JSON document per line: every key at one revision, except leases. */
export async function* backup(
  store: Store,
  now: Date,
  progress: Progress = () => undefined,
): AsyncIterable<string> {
  const { revision, entries } = await store.list(root);
  const kept = entries.filter(isKept);
  const header: Header = {
    format: 'bamel-backup',
    version: 1,
    revision,
    at: now.toISOString(),
    keys: kept.length,
  };
  yield `${JSON.stringify(header)}\n`;
  for (const [index, { key, value }] of kept.entries()) {
    yield `${JSON.stringify({ key, value })}\n`;
    progress(index + 1, kept.length);
  }
}

class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Checks everything before it writes anything. Returns the number of keys written. */
export async function restore(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
  { replace = false, progress = () => undefined }: { replace?: boolean; progress?: Progress } = {},
): Promise<number> {
  const records = await readBackup(lines);
  const existing = (await store.list(root)).entries.filter(isKept);
  if (existing.length > 0 && !replace)
    throw new BackupError(
      `the store is not empty (${existing.length} keys, e.g. ${existing[0]?.key}); --replace deletes what is there`,
    );
  const coming = new Set(records.map(({ key }) => key));
  const writes: Write[] = [
    ...existing.filter(({ key }) => !coming.has(key)).map(({ key }) => ({ delete: key })),
    ...records.map(({ key, value }) => ({ put: key, value })),
  ];
  let done = 0;
  for (const batch of inBatches(writes)) {
    await store.commit([], batch);
    done += batch.length;
    progress(done, writes.length);
  }
  return records.length;
}

const isKept = ({ key }: Entry) => !key.startsWith(keys.leases);

async function readBackup(lines: AsyncIterable<string> | Iterable<string>): Promise<Record[]> {
  let expected: number | undefined;
  const records = new Map<string, Record>();
  let number = 0;
  for await (const line of lines) {
    number++;
    if (expected === undefined) {
      expected = parseLine(Header, line, number, 'is this a file made by bamel backup?').keys;
      continue;
    }
    const record = parseLine(Record, line, number, 'the file is damaged');
    if (records.has(record.key)) throw new BackupError(`line ${number}: ${record.key} is there twice`);
    records.set(record.key, record);
  }
  if (expected === undefined) throw new BackupError('line 1: the file is empty');
  if (records.size !== expected)
    throw new BackupError(
      `line ${number}: the file ends after ${records.size} of ${expected} keys; it is not complete`,
    );
  return [...records.values()];
}

function parseLine<T>(schema: z.ZodType<T>, line: string, number: number, hint: string): T {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    throw new BackupError(`line ${number}: not JSON; ${hint}`);
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  throw new BackupError(`line ${number}: ${issue?.path.join('.')}: ${issue?.message}; ${hint}`);
}

function* inBatches(writes: readonly Write[]): Iterable<Write[]> {
  let batch: Write[] = [];
  let bytes = 0;
  for (const write of writes) {
    const more = bytesOf(write);
    if (batch.length === maxPerCommit || (batch.length > 0 && bytes + more > maxCommitBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(write);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}
