import type { ICompare, IRequestOp } from 'etcd3';
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
import { checkCommit } from '../store/commit-checks.ts';
import { HeldLease, leftToItsTtl } from '../store/lease.ts';
import { deadlineMs, type EtcdClient, rangeOf, toEntry } from './client.ts';
import { errorCode, storeError } from './errors.ts';
import { EtcdWatch } from './watch.ts';

const pageSize = 1000;

/** The store in an etcd cluster, for any number of processes. Nothing is asked of etcd until the first call. */
export class EtcdStore implements Store {
  readonly #etcd: EtcdClient;
  readonly #tries: number;
  readonly #watches = new Set<EtcdWatch>();
  readonly #held = new Set<HeldLease>();
  /** Names of leases that were held by others at the last attempt. */
  readonly #awaited = new Set<string>();
  #failingSince: number | undefined;

  constructor(etcd: EtcdClient, hosts: number) {
    this.#etcd = etcd;
    this.#tries = hosts + 1;
  }

  async get(key: string): Promise<Entry | undefined> {
    const { kvs } = await this.#call('read', () => this.#etcd.kvRange({ key: Buffer.from(key) }));
    return kvs[0] && toEntry(kvs[0]);
  }

  async list(prefix: string): Promise<{ revision: number; entries: Entry[] }> {
    const { key: start, range_end } = rangeOf(prefix);
    const entries: Entry[] = [];
    let key = start;
    let revision = 0;
    for (;;) {
      // The first page is of now; the others are of the first one's revision.
      const request = { key, range_end, limit: pageSize, ...(revision > 0 && { revision }) };
      const page = await this.#call('read', () => this.#etcd.kvRange(request)).catch((error) => {
        if (!isCompacted(error)) throw error;
      });
      if (!page) return this.list(prefix);
      revision ||= Number(page.header.revision);
      entries.push(...page.kvs.map(toEntry));
      const last = page.kvs.at(-1);
      if (!page.more || !last) return { revision, entries };
      key = Buffer.concat([last.key, Buffer.of(0)]);
    }
  }

  async commit(conditions: readonly Condition[], writes: readonly Write[]): Promise<CommitResult> {
    checkCommit(conditions, writes);
    // etcd answers a transaction without any operation from the member's own, possibly old, state; one that
    // reads something goes through the quorum.
    const readable = Buffer.from(conditions[0]?.key ?? keys.leases);
    const look: IRequestOp[] = [{ request_range: { key: readable, count_only: true } }];
    const request = {
      compare: conditions.map(toCompare),
      success: writes.length > 0 ? writes.map(toOperation) : look,
      failure: writes.length > 0 ? [] : look,
    };
    const { succeeded, header } = await this.#call('commit', () => this.#etcd.kvTxn(request));
    return { committed: succeeded, revision: Number(header.revision) };
  }

  async watch(prefix: string, onChange: (change: StoreChange) => void): Promise<Watch> {
    const watch = new EtcdWatch(this.#etcd, (under) => this.list(under), prefix, onChange);
    await watch.start();
    this.#watches.add(watch);
    return {
      close: async () => {
        this.#watches.delete(watch);
        await watch.close();
      },
    };
  }

  async acquire(name: string, ttlMs: number, owner: string): Promise<Lease | undefined> {
    const key = keys.lease(name);
    // Whoever waits for a lease looks whether it is still held; otherwise it mostly is not, and is asked for at once.
    if (this.#awaited.has(name) && (await this.get(key))) return undefined;
    const sentAt = performance.now();
    // A grant whose answer got lost is an empty lease that ends by itself: repeating it does no harm.
    const id = await this.#call('read', () => this.#etcd.leaseGrant(Math.ceil(ttlMs / 1000)));
    const giveBack = () => this.#call('read', () => this.#etcd.leaseRevoke(id));
    const created = await this.#claim(key, owner, id).catch(async (error) => {
      await leftToItsTtl(giveBack());
      throw error;
    });
    if (created === undefined) {
      this.#awaited.add(name);
      await leftToItsTtl(giveBack());
      return undefined;
    }
    this.#awaited.delete(name);
    const renew = () => this.#etcd.leaseKeepAlive(id, Math.min(deadlineMs, ttlMs / 3));
    const lease = new HeldLease({ name, ttlMs, created, sentAt, renew, giveBack }, (ended) =>
      this.#held.delete(ended),
    );
    // Not if it took so long that it is lost already.
    if (lease.remainingMs() > 0) this.#held.add(lease);
    return lease;
  }

  async close(): Promise<void> {
    const held = [...this.#held];
    for (const lease of held) lease.lose();
    await Promise.all(held.map((lease) => lease.release()));
    await Promise.all([...this.#watches].map((watch) => watch.close()));
    this.#etcd.close();
  }

  /** The create revision of the lease key, which is the fence; undefined if another owner holds it. */
  async #claim(name: string, owner: string, lease: string): Promise<number | undefined> {
    const key = Buffer.from(name);
    const request = {
      compare: [toCompare({ key: name, created: 0 })],
      success: [{ request_put: { key, value: Buffer.from(owner), lease } }],
    };
    try {
      const { succeeded, header } = await this.#call('commit', () => this.#etcd.kvTxn(request));
      return succeeded ? Number(header.revision) : undefined;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'ambiguous') throw error;
      // The lease id is unique, so the key shows whether the write happened.
      const { kvs } = await this.#call('read', () => this.#etcd.kvRange({ key }));
      return kvs[0]?.lease === lease ? Number(kvs[0].create_revision) : undefined;
    }
  }

  /** What certainly did not happen is tried again, on another member if there is one; nothing else is. */
  async #call<T>(kind: 'read' | 'commit', call: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    for (let tries = 1; ; tries++) {
      try {
        const answer = await call();
        this.#failingSince = undefined;
        return answer;
      } catch (error) {
        const code = errorCode(error, kind);
        const spent = performance.now() - startedAt;
        if (code === 'unavailable' && tries < this.#tries && spent < 2 * deadlineMs) continue;
        if (code === 'unavailable' || code === 'ambiguous') this.#failingSince ??= startedAt;
        throw storeError(code, error, performance.now() - (this.#failingSince ?? startedAt));
      }
    }
  }
}

/** A read at a revision that etcd has thrown away. */
const isCompacted = (error: Error): boolean => error.message.includes('required revision has been compacted');

const toCompare = (condition: Condition): ICompare => ({
  key: Buffer.from(condition.key),
  result: 'Equal',
  ...('revision' in condition
    ? { target: 'Mod', mod_revision: condition.revision }
    : { target: 'Create', create_revision: condition.created }),
});

const toOperation = (write: Write): IRequestOp =>
  'put' in write
    ? { request_put: { key: Buffer.from(write.put), value: Buffer.from(write.value) } }
    : { request_delete_range: { key: Buffer.from(write.delete) } };
