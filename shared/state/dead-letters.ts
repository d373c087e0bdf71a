import type { DeadLetter } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import { newId } from '../process/ids.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** The newest are kept. */
const maxDeadLetters = 500;

const prefix = keys.seenEvent('dead-');

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
}

export interface DeadLetters {
  add(letter: DeadLetter): Promise<void>;
  /** The oldest first. */
  list(): Promise<StoredDeadLetter[]>;
  /** Whoever removes one that is gone has removed it. */
  remove(id: string): Promise<void>;
}

/** Events that were given up on, kept in the store until somebody looks at them. */
export function createDeadLetters(store: Store): DeadLetters {
  return {
    async add(letter) {
      await store.commit(
        [],
        [{ put: keys.seenEvent(newId('dead', letter.at)), value: encode({ dead: true, ...letter }) }],
      );
      const { entries } = await store.list(prefix);
      const old = entries.slice(0, -maxDeadLetters).slice(0, 100);
      if (old.length > 0)
        await store.commit(
          [],
          old.map(({ key }) => ({ delete: key })),
        );
    },
    async list() {
      const { entries } = await store.list(prefix);
      return entries.map(({ key, value }) => {
        const { dead: _dead, ...letter } = decode<DeadLetter & { dead: true }>(key, value);
        return { id: key.slice(keys.seen.length), ...letter };
      });
    },
    async remove(id) {
      await store.commit([], [{ delete: keys.seenEvent(id) }]);
    },
  };
}
