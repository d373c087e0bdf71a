import { setTimeout as sleep } from 'node:timers/promises';
import { type Entry, type StoreChange, StoreError, type Watch } from '../../ports/store.ts';
import { ChangeQueue } from '../store/change-queue.ts';
import { type EtcdClient, rangeOf, toEntry, type WatchResponse } from './client.ts';

const reconnectMs = 250;

type List = (prefix: string) => Promise<{ readonly revision: number; readonly entries: readonly Entry[] }>;

/**
 * List at a revision, then every change after it. A lost connection is taken up where it ended; when that
 * is not possible any more (compacted, or cancelled for any other reason) it is listed anew.
 */
export class EtcdWatch implements Watch {
  readonly #etcd: EtcdClient;
  readonly #list: List;
  readonly #prefix: string;
  readonly #queue: ChangeQueue;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(etcd: EtcdClient, list: List, prefix: string, onChange: (change: StoreChange) => void) {
    this.#etcd = etcd;
    this.#list = list;
    this.#prefix = prefix;
    this.#queue = new ChangeQueue(onChange);
  }

  async start(): Promise<void> {
    this.#running = this.#follow(await this.#reset());
  }

  async close(): Promise<void> {
    this.#queue.close();
    this.#closing.abort();
    await this.#running;
  }

  async #reset(): Promise<number> {
    const { revision, entries } = await this.#list(this.#prefix);
    this.#queue.push({ type: 'reset', entries, revision });
    return revision + 1;
  }

  async #follow(first: number): Promise<void> {
    const { signal } = this.#closing;
    for (let next: number | undefined = first; !signal.aborted; ) {
      try {
        next = await this.#read(next ?? (await this.#reset()));
      } catch (error) {
        // No answer now: the next round tries again, and the watcher hears of what it missed.
        if (!(error instanceof StoreError)) throw error;
      }
      await sleep(reconnectMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads one stream to its end. The revision to go on from, or undefined: it must be listed anew. */
  async #read(from: number): Promise<number | undefined> {
    const { signal } = this.#closing;
    let next: number | undefined = from;
    const ended = Promise.withResolvers<void>();
    const request = { ...rangeOf(this.#prefix), start_revision: String(from) };
    const onResponse = (response: WatchResponse) => {
      next = this.#take(response, next);
      if (next === undefined) ended.resolve();
    };
    let watching: { cancel(): void };
    try {
      watching = await this.#etcd.watchFrom(request, onResponse, ended.resolve);
    } catch {
      return from;
    }
    const stop = () => watching.cancel();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    await ended.promise;
    signal.removeEventListener('abort', stop);
    stop();
    return next;
  }

  #take(response: WatchResponse, next: number | undefined): number | undefined {
    if (response.canceled) return undefined;
    for (const { type, kv } of response.events) {
      const revision = Number(kv.mod_revision);
      this.#queue.push(
        type === 'Delete'
          ? { type: 'delete', key: kv.key.toString(), revision }
          : { type: 'put', entry: toEntry(kv), revision },
      );
      next = revision + 1;
    }
    return next;
  }
}
