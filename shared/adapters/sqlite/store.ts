import {
  type CommitResult,
  type Condition,
  type Entry,
  type Lease,
  type Store,
  type StoreChange,
  StoreError,
  type Watch,
  type Write,
} from '../../ports/store.ts';
import { keys } from '../../state/keys.ts';
import { ChangeQueue } from '../store/change-queue.ts';
import { checkCommit } from '../store/commit-checks.ts';
import { HeldLease } from '../store/lease.ts';
import { type OpenDatabase, openFile, openMemory, type SqliteOptions, sqliteError } from './database.ts';
import { prepare } from './sql.ts';

/** The expiry of a lease, by `performance.now()`, and the create revision of its key. */
interface Grant {
  readonly created: number;
  until: number;
}

/**
 * The store in one SQLite database, in memory or in a file, of one process. SQLite is called synchronously,
 * so whatever stands between two awaits here is atomic: there is nobody else.
 */
export class EmbeddedStore implements Store {
  readonly #open: OpenDatabase;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #where: string;
  readonly #watchers = new Set<{ readonly prefix: string; readonly queue: ChangeQueue }>();
  readonly #grants = new Map<string, Grant>();
  readonly #held = new Set<HeldLease>();
  #revision: number;
  #expiry: NodeJS.Timeout | undefined;

  /** Without a path in memory. */
  constructor(path: string | undefined, options: SqliteOptions = {}) {
    this.#where = path === undefined ? 'embedded store' : `embedded store ${path}`;
    this.#open = path === undefined ? openMemory() : openFile(path, options);
    this.#sql = prepare(this.#open.database);
    this.#revision = this.#sql.revision();
    // Only one process writes here, so the holders of these leases are dead.
    if (!options.readOnly)
      for (const { key } of this.#list(keys.leases).entries) this.#apply([{ delete: key }]);
  }

  async get(key: string): Promise<Entry | undefined> {
    this.#expire();
    return this.#try(() => this.#sql.get(key));
  }

  async list(prefix: string): Promise<{ revision: number; entries: Entry[] }> {
    this.#expire();
    return this.#list(prefix);
  }

  async commit(conditions: readonly Condition[], writes: readonly Write[]): Promise<CommitResult> {
    checkCommit(conditions, writes);
    this.#expire();
    const holds = this.#try(() => conditions.every((condition) => this.#holds(condition)));
    if (!holds) return { committed: false, revision: this.#revision };
    return { committed: true, revision: this.#apply(writes) };
  }

  async watch(prefix: string, onChange: (change: StoreChange) => void): Promise<Watch> {
    this.#expire();
    const watcher = { prefix, queue: new ChangeQueue(onChange) };
    watcher.queue.push({ type: 'reset', ...this.#list(prefix) });
    this.#watchers.add(watcher);
    return {
      close: async () => {
        this.#watchers.delete(watcher);
        watcher.queue.close();
      },
    };
  }

  async acquire(name: string, ttlMs: number, owner: string): Promise<Lease | undefined> {
    const key = keys.lease(name);
    this.#expire();
    if (this.#try(() => this.#sql.get(key))) return undefined;
    const sentAt = performance.now();
    const grant: Grant = { created: this.#apply([{ put: key, value: owner }]), until: sentAt + ttlMs };
    this.#grants.set(key, grant);
    this.#expireLater();
    const lease = new HeldLease(
      {
        name,
        ttlMs,
        sentAt,
        created: grant.created,
        renew: async () => {
          if (this.#grants.get(key) !== grant) return false;
          grant.until = performance.now() + ttlMs;
          return true;
        },
        giveBack: async () => {
          if (this.#grants.get(key) === grant) this.#free(key);
        },
      },
      (ended) => this.#held.delete(ended),
    );
    this.#held.add(lease);
    return lease;
  }

  async close(): Promise<void> {
    for (const lease of this.#held) {
      lease.lose();
      await lease.release();
    }
    clearTimeout(this.#expiry);
    for (const { queue } of this.#watchers) queue.close();
    this.#watchers.clear();
    if (this.#open.database.isOpen) this.#open.close();
  }

  #list(prefix: string): { revision: number; entries: Entry[] } {
    return this.#try(() => this.#sql.list(prefix));
  }

  #holds(condition: Condition): boolean {
    const entry = this.#sql.get(condition.key);
    return 'revision' in condition
      ? (entry?.revision ?? 0) === condition.revision
      : (entry?.created ?? 0) === condition.created;
  }

  /** Writes all or nothing, notifies the watchers, and returns the revision. */
  #apply(writes: readonly Write[]): number {
    const revision = this.#revision + 1;
    const changes = this.#transaction(() => {
      const made = writes.flatMap((write) => this.#write(write, revision));
      // As in etcd: what changes nothing makes no revision.
      if (made.length > 0) this.#sql.count(revision);
      return made;
    });
    if (changes.length === 0) return this.#revision;
    this.#revision = revision;
    for (const { prefix, queue } of this.#watchers)
      for (const change of changes)
        if ((change.type === 'put' ? change.entry.key : change.key).startsWith(prefix)) queue.push(change);
    return revision;
  }

  #write(write: Write, revision: number): Exclude<StoreChange, { type: 'reset' }>[] {
    if ('put' in write) {
      const { put: key, value } = write;
      const entry = { key, value, revision, created: this.#sql.put(key, value, revision) };
      return [{ type: 'put', entry, revision }];
    }
    return this.#sql.remove(write.delete) ? [{ type: 'delete', key: write.delete, revision }] : [];
  }

  #transaction<T>(work: () => T): T {
    const result = this.#try(() => {
      this.#sql.begin();
      try {
        return work();
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
    try {
      this.#sql.commit();
    } catch (error) {
      this.#rollBack();
      throw sqliteError(error, this.#where, 'commit');
    }
    return result;
  }

  /** SQLite has done it already after some errors. */
  #rollBack(): void {
    if (this.#open.database.isTransaction) this.#sql.rollBack();
  }

  #try<T>(call: () => T): T {
    if (!this.#open.database.isOpen) throw new StoreError('unavailable', `${this.#where} is closed`);
    try {
      return call();
    } catch (error) {
      throw sqliteError(error, this.#where, 'other');
    }
  }

  /** Before every call, not only by the timer: a stalled process must not see a lease that is over. */
  #expire(): void {
    const now = performance.now();
    for (const [key, { until }] of this.#grants) if (until <= now) this.#free(key);
  }

  #expireLater(): void {
    clearTimeout(this.#expiry);
    const first = Math.min(...[...this.#grants.values()].map(({ until }) => until));
    if (first === Number.POSITIVE_INFINITY) return;
    this.#expiry = setTimeout(
      () => {
        this.#expire();
        this.#expireLater();
      },
      Math.max(1, first - performance.now()),
    ).unref();
  }

  #free(key: string): void {
    const grant = this.#grants.get(key);
    this.#grants.delete(key);
    if (grant && this.#try(() => this.#holds({ key, created: grant.created })))
      this.#apply([{ delete: key }]);
  }
}
