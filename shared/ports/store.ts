export interface Entry {
  readonly key: string;
  readonly value: string;
  /** Revision of the last write to this key. */
  readonly revision: number;
  /** Revision at which the key came into being. */
  readonly created: number;
}

/** What must hold for a commit to happen. `revision: 0` means the key must not exist. */
export type Condition =
  | { readonly key: string; readonly revision: number }
  | { readonly key: string; readonly created: number };

export type Write = { readonly put: string; readonly value: string } | { readonly delete: string };

/** Of conditions and of writes in one commit. etcd allows 128 by default. */
export const maxPerCommit = 100;
/** Of all keys and values in one commit. etcd allows 1.5 MiB for the whole request by default. */
export const maxCommitBytes = 1_400_000;

export const keyOf = (write: Write): string => ('put' in write ? write.put : write.delete);

export const bytesOf = (write: Write): number =>
  Buffer.byteLength(keyOf(write)) + ('put' in write ? Buffer.byteLength(write.value) : 0);

export type CommitResult =
  | { readonly committed: true; readonly revision: number }
  | { readonly committed: false; readonly revision: number };

/**
 * `reset`: forget everything known under the prefix, this is all of it now. The first change of every
 * watch, and again whenever changes may have been missed.
 */
export type StoreChange =
  | { readonly type: 'reset'; readonly entries: readonly Entry[]; readonly revision: number }
  | { readonly type: 'put'; readonly entry: Entry; readonly revision: number }
  | { readonly type: 'delete'; readonly key: string; readonly revision: number };

export interface Watch {
  close(): Promise<void>;
}

export interface Lease {
  readonly name: string;
  /** Part of every commit under the lease: the commit fails once another owner holds it. */
  readonly fence: Condition;
  /** Aborts when the lease is or may soon be lost, before its TTL, by the local monotonic clock. */
  readonly lost: AbortSignal;
  /** Milliseconds for which the lease is certainly still ours; 0 once lost. */
  remainingMs(): number;
  /** Gives the lease back at once. Harmless when it is lost already. */
  release(): Promise<void>;
}

/**
 * The truth. Keys are paths, values are strings (versioned JSON). Every read is linearizable.
 * Any call may throw StoreError; after a commit that threw with `ambiguous` the write may or may not have
 * happened: read again before acting.
 */
export interface Store {
  get(key: string): Promise<Entry | undefined>;
  /** Everything under a prefix, at one revision, ordered by key. */
  list(prefix: string): Promise<{ readonly revision: number; readonly entries: readonly Entry[] }>;
  /** All writes or none. At most 100 conditions and 100 writes, no key written twice. */
  commit(conditions: readonly Condition[], writes: readonly Write[]): Promise<CommitResult>;
  /** Calls back in order of revision, one change at a time, until closed. Survives lost connections. */
  watch(prefix: string, onChange: (change: StoreChange) => void): Promise<Watch>;
  /** Takes a lease at /baremetal/leases/{name}, kept alive until released; undefined while another holds it. */
  acquire(name: string, ttlMs: number, owner: string): Promise<Lease | undefined>;
  close(): Promise<void>;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'unavailable' | 'ambiguous' | 'full' | 'refused';
  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
