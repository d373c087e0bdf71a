import type { KubeObject } from './objects.ts';
import type { ResourceType } from './resource-types.ts';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: ResourceType;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  readonly version: number;
}

/** The last changes of the whole store, from which watches resume. */
export class History {
  readonly #size: number;
  #ring: Change[] = [];
  /** Where the oldest change is once the ring is full. */
  #start = 0;
  #forgotten = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(change: Change): void {
    if (this.#ring.length < this.#size) {
      this.#ring.push(change);
      return;
    }
    this.#forgotten = this.#ring[this.#start]?.version ?? this.#forgotten;
    this.#ring[this.#start] = change;
    this.#start = (this.#start + 1) % this.#size;
  }

  /** Forgets everything up to `version`, as compaction of etcd does. */
  compact(version: number): void {
    this.#ring = [...this.#inOrder(0)].filter((change) => change.version > version);
    this.#start = 0;
    this.#forgotten = Math.max(this.#forgotten, version);
  }

  knows(version: number): boolean {
    return version >= this.#forgotten;
  }

  /** Changes after `version`, oldest first. */
  *since(version: number): Generator<Change> {
    let low = 0;
    let high = this.#ring.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#at(middle)?.version ?? 0) > version) high = middle;
      else low = middle + 1;
    }
    yield* this.#inOrder(low);
  }

  #at(index: number): Change | undefined {
    return this.#ring[(this.#start + index) % this.#ring.length];
  }

  *#inOrder(from: number): Generator<Change> {
    for (let index = from; index < this.#ring.length; index++) {
      const change = this.#at(index);
      if (change) yield change;
    }
  }
}
