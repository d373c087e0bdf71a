import type { Store } from '../ports.ts';
import { newId } from '../runtime/ids.ts';
import type { DeadLetter } from '../runtime/local-sink.ts';
import { encode } from './codec.ts';
import { keys } from './keys.ts';

/** The newest are kept. */
const kept = 500;

/** Events that were given up on, kept in the store until somebody looks at them. */
export function createDeadLetters(store: Store): { add(letter: DeadLetter): Promise<void> } {
  return {
    async add(letter) {
      await store.commit(
        [],
        [{ put: keys.seenEvent(newId('dead', letter.at)), value: encode({ dead: true, ...letter }) }],
      );
      const { entries } = await store.list(`${keys.seen}dead-`);
      const old = entries.slice(0, -kept).slice(0, 100);
      if (old.length > 0)
        await store.commit(
          [],
          old.map(({ key }) => ({ delete: key })),
        );
    },
  };
}
