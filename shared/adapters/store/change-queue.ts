import type { StoreChange } from '../../ports/store.ts';

/**
 * Hands changes to a watcher in order, one at a time and never from within the call that made them: a
 * watcher that commits does not find itself called back in the middle of its own work.
 */
export class ChangeQueue {
  readonly #onChange: (change: StoreChange) => void;
  #waiting: StoreChange[] = [];
  #closed = false;

  constructor(onChange: (change: StoreChange) => void) {
    this.#onChange = onChange;
  }

  push(change: StoreChange): void {
    if (this.#closed) return;
    if (this.#waiting.push(change) === 1) setImmediate(() => this.#deliver());
  }

  close(): void {
    this.#closed = true;
    this.#waiting = [];
  }

  #deliver(): void {
    const change = this.#waiting[0];
    if (change === undefined) return;
    try {
      this.#onChange(change);
    } finally {
      // Also after a watcher that threw, whose error is the process's to report: the next change still comes.
      this.#waiting.shift();
      if (this.#waiting.length > 0) setImmediate(() => this.#deliver());
    }
  }
}
