import type { Clock } from '../ports/clock.ts';
import type { SeenEvents } from '../ports/events.ts';
import type { Store, StoreChange, Watch } from '../ports/store.ts';
import { newId } from '../process/ids.ts';
import { encode } from './codec.ts';
import { keys } from './keys.ts';

const prefix = keys.seenEvent('ids-');

/** Older ids are deleted. The limit is about half a megabyte. */
const maxIds = 20_000;
/** Ids per value, and values removed per commit: well below the limits of a commit. */
const maxBatchIds = 500;
const maxRemoved = 50;
/**
 * This many batches of about the same time are merged: a new process reads all of them before its first
 * event.
 */
const minMerged = 8;
const windowsKept = 4;

interface Batch {
  readonly at: number;
  readonly ids: readonly string[];
}

export interface StoredSeenEvents extends SeenEvents {
  close(): Promise<void>;
}

/**
 * Ids of handled events, shared through the store. Reads are served from memory, which a watch updates;
 * concurrent writes are batched, so that a storm of events costs a few commits.
 */
export function createSeenEvents(store: Store, clock: Clock, keepMs: number): StoredSeenEvents {
  const batches = new Map<string, Batch>();
  /** Number of batches that contain each id: during a merge it is two. */
  const known = new Map<string, number>();
  const loaded = Promise.withResolvers<void>();
  let watching: Promise<Watch> | undefined;
  let next: { readonly ids: string[]; readonly written: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const forget = (key: string): void => {
    for (const id of batches.get(key)?.ids ?? []) {
      const others = (known.get(id) ?? 1) - 1;
      if (others > 0) known.set(id, others);
      else known.delete(id);
    }
    batches.delete(key);
  };
  const learn = (key: string, batch: Batch): void => {
    forget(key);
    batches.set(key, batch);
    for (const id of batch.ids) known.set(id, (known.get(id) ?? 0) + 1);
  };
  const take = (change: StoreChange): void => {
    if (change.type === 'delete') forget(change.key);
    else if (change.type === 'put') learn(change.entry.key, batchOf(change.entry.value));
    else {
      for (const key of [...batches.keys()]) forget(key);
      for (const { key, value } of change.entries) learn(key, batchOf(value));
      loaded.resolve();
    }
  };
  /** Starts with the first event, because a process without events needs no watch. */
  const ensureWatching = async (): Promise<void> => {
    watching ??= store.watch(prefix, take);
    await watching.catch((error: unknown) => {
      watching = undefined;
      throw error;
    });
    await loaded.promise;
  };
  const outdated = (): string[] => {
    let left = known.size;
    const isOld = (key: string): boolean => {
      const { at = 0, ids = [] } = batches.get(key) ?? {};
      if (left <= maxIds && at >= clock.now() - keepMs) return false;
      left -= ids.length;
      return true;
    };
    // Keys sort by time: the oldest go first.
    return [...batches.keys()].sort().filter(isOld).slice(0, maxRemoved);
  };
  /** Batches of about the same time that fit into one. */
  const mergeable = (): readonly string[] => {
    const windows = Map.groupBy(batches, ([, { at }]) => Math.floor((at * windowsKept) / keepMs));
    for (const window of windows.values()) {
      let room = maxBatchIds;
      const smallestFirst = window.sort(([, a], [, b]) => a.ids.length - b.ids.length);
      const fitting = smallestFirst.filter(([, { ids }]) => {
        room -= ids.length;
        return room >= 0;
      });
      if (fitting.length >= minMerged) return fitting.slice(0, maxRemoved).map(([key]) => key);
    }
    return [];
  };
  const write = async (ids: readonly string[]): Promise<void> => {
    const added: Batch[] = [{ at: clock.now(), ids: [...ids] }];
    const old = outdated();
    const removed = old.length > 0 ? old : mergeable();
    const merged = old.length > 0 ? [] : removed.flatMap((key) => batches.get(key) ?? []);
    if (merged.length > 0)
      added.push({
        at: Math.max(...merged.map(({ at }) => at)),
        ids: [...new Set(merged.flatMap((batch) => batch.ids))],
      });
    const puts = added.map((batch) => ({ put: keys.seenEvent(newId('ids', batch.at)), batch }));
    await store.commit(
      [],
      [
        ...puts.map(({ put, batch }) => ({ put, value: encode(batch) })),
        ...removed.map((key) => ({ delete: key })),
      ],
    );
    for (const { put, batch } of puts) learn(put, batch);
    for (const key of removed) forget(key);
  };
  /** Written after the previous batch, with all ids that arrive until then. */
  const startBatch = () => {
    const ids: string[] = [];
    const written = last.then(() => {
      if (next?.ids === ids) next = undefined;
      return write(ids);
    });
    last = written.catch(() => undefined);
    return { ids, written };
  };

  return {
    async has(id) {
      await ensureWatching();
      return known.has(id);
    },
    async add(id) {
      if (!next || next.ids.length >= maxBatchIds) next = startBatch();
      next.ids.push(id);
      await next.written;
    },
    async close() {
      await last;
      await (await watching)?.close();
    },
  };
}

/**
 * Runs in a watch callback and cannot report errors: an unreadable value counts as an empty batch, which is
 * removed first.
 */
function batchOf(value: string): Batch {
  try {
    const { at, ids } = JSON.parse(value) as Batch;
    // Without a schema: a process reads thousands of these before its first event.
    if (typeof at === 'number' && Array.isArray(ids) && ids.every((id) => typeof id === 'string'))
      return { at, ids };
  } catch {
    // Handled like any other unreadable value.
  }
  return { at: 0, ids: [] };
}
