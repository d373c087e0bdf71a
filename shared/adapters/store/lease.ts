import { type Lease, StoreError } from '../../ports/store.ts';
import { keys } from '../../state/keys.ts';

export interface LeaseTerms {
  readonly name: string;
  readonly ttlMs: number;
  /** Create revision of the lease key. */
  readonly created: number;
  /** When the request that granted it was sent, by `performance.now()`: the store's TTL began no earlier. */
  readonly sentAt: number;
  /** False when the lease is gone; throws when that could not be found out. */
  readonly renew: () => Promise<boolean>;
  /** Gives it back; may throw StoreError, the TTL then does it. */
  readonly giveBack: () => Promise<void>;
}

/** A failed keep-alive is tried again this soon. */
const retryMs = 250;

/** How long before the TTL a lease counts as lost: a fifth of it, at least 250 ms, at most half. */
export const lossMargin = (ttlMs: number): number => Math.min(ttlMs / 2, Math.max(ttlMs / 5, 250));

/** Timeout of a release: if the store does not respond, the TTL ends the lease. */
export async function leftToItsTtl(givingBack: Promise<void>): Promise<void> {
  await givingBack.catch((error) => {
    if (!(error instanceof StoreError)) throw error;
  });
}

/**
 * The holder's side of a lease, the same for every store. What counts is the monotonic clock (which goes on
 * while the process is stopped) since the *sending* of the last keep-alive that succeeded: the store, whose
 * TTL began later than that, cannot give the lease to somebody else before we call it lost.
 */
export class HeldLease implements Lease {
  readonly name: string;
  readonly fence: { readonly key: string; readonly created: number };
  readonly lost: AbortSignal;
  readonly #terms: LeaseTerms;
  readonly #loss = new AbortController();
  readonly #onEnd: (lease: HeldLease) => void;
  #certainUntil = 0;
  #ended = false;
  #lossTimer: NodeJS.Timeout | undefined;
  #beatTimer: NodeJS.Timeout | undefined;

  constructor(terms: LeaseTerms, onEnd: (lease: HeldLease) => void) {
    this.name = terms.name;
    this.fence = { key: keys.lease(terms.name), created: terms.created };
    this.lost = this.#loss.signal;
    this.#terms = terms;
    this.#onEnd = onEnd;
    this.#renewedAt(terms.sentAt);
    this.#beatIn(terms.ttlMs / 3);
  }

  remainingMs(): number {
    if (this.#ended) return 0;
    const left = this.#certainUntil - performance.now();
    if (left > 0) return left;
    this.lose();
    return 0;
  }

  async release(): Promise<void> {
    this.#end();
    await leftToItsTtl(this.#terms.giveBack());
  }

  /** It may still be ours in the store, but must not be used: left to its TTL, not released early. */
  lose(): void {
    if (this.#ended) return;
    this.#end();
    this.#loss.abort(new Error(`the lease ${this.name} is lost or about to be`));
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#lossTimer);
    clearTimeout(this.#beatTimer);
    this.#onEnd(this);
  }

  #renewedAt(sentAt: number): void {
    const { ttlMs } = this.#terms;
    this.#certainUntil = sentAt + ttlMs - lossMargin(ttlMs);
    this.#watchClock();
  }

  #watchClock(): void {
    const left = this.remainingMs();
    clearTimeout(this.#lossTimer);
    if (left > 0) this.#lossTimer = setTimeout(() => this.#watchClock(), left).unref();
  }

  #beatIn(ms: number): void {
    this.#beatTimer = setTimeout(() => void this.#beat(), ms).unref();
  }

  async #beat(): Promise<void> {
    // Checked before renewing: after a stall it may already have been reported as lost.
    if (this.remainingMs() === 0) return;
    const sentAt = performance.now();
    const renewed = await this.#terms.renew().catch(() => undefined);
    if (this.#ended) return;
    if (renewed === false) return this.lose();
    if (renewed) this.#renewedAt(sentAt);
    this.#beatIn(renewed ? this.#terms.ttlMs / 3 : Math.min(retryMs, this.#terms.ttlMs / 10));
  }
}
