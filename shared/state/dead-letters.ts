import type { DeadLetter } from '../ports/events.ts';
import type { Store } from '../ports/store.ts';
import { newId } from '../process/ids.ts';
import { decode, encode } from './codec.ts';
import { keys } from './keys.ts';

/** Older dead letters are deleted. */
const maxDeadLetters = 500;

const prefix = keys.seenEvent('dead-');

export interface StoredDeadLetter extends DeadLetter {
  readonly id: string;
}

export interface DeadLetters {
  add(letter: DeadLetter): Promise<void>;
  /** The oldest first. */
  list(): Promise<StoredDeadLetter[]>;
  /** Removing a dead letter that is gone succeeds. */
  remove(id: string): Promise<void>;
}

/** Undeliverable events, kept in the store until a person replays or removes them. */
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
