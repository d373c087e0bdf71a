/** How long the loop may keep everybody else in the process waiting. */
const sliceMs = 10;
/** Changes come in bursts: what is to be done about them is done once. */
const gatherMs = 5;
const retryMs = 1000;

/** The controllers' work, one piece after another; a piece asked for twice before its turn is done once. */
export class WorkLoop {
  readonly #pending = new Map<string, () => void>();
  readonly #log: (message: string, fields: object) => void;
  readonly #retries = new Set<NodeJS.Timeout>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(log: (message: string, fields: object) => void) {
    this.#log = log;
  }

  get idle(): boolean {
    return this.#pending.size === 0;
  }

  add(id: string, piece: () => void): void {
    if (this.#stopped) return;
    this.#pending.set(id, piece);
    this.#timer ??= setTimeout(() => this.#slice(), gatherMs);
  }

  /** Does all work there is, now: for replays that own the clock. */
  drain(): void {
    for (let [next] = this.#pending; next; [next] = this.#pending) this.#do(next[0], next[1]);
  }

  stop(): void {
    this.#stopped = true;
    this.#pending.clear();
    clearTimeout(this.#timer);
    for (const retry of this.#retries) clearTimeout(retry);
  }

  #slice(): void {
    const end = performance.now() + sliceMs;
    for (const [id, piece] of this.#pending) {
      this.#do(id, piece);
      if (performance.now() > end) break;
    }
    this.#timer = this.#pending.size ? setTimeout(() => this.#slice(), 0) : undefined;
  }

  #do(id: string, piece: () => void): void {
    this.#pending.delete(id);
    try {
      piece();
    } catch (error) {
      this.#log('controller failed, tries again', { id, error });
      const retry = setTimeout(() => {
        this.#retries.delete(retry);
        this.add(id, piece);
      }, retryMs);
      this.#retries.add(retry);
    }
  }
}
