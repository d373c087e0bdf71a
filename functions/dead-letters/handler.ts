import { z } from 'zod';
import { done, rejected } from '../../shared/core/outcome.ts';
import type { Handler } from '../../shared/server/function.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import type { Deps } from '../deps.ts';
import { toDeadLetter } from './dead-letter.ts';

export const DeadLettersInput = z.strictObject({
  replay: z
    .union([z.literal('all'), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe('send these again, and forget them: their ids, or all; otherwise they are listed'),
});

/** Stores undeliverable events of a broker; called by hand, lists or replays them. */
export function deadLetters(deps: Deps): Handler<z.output<typeof DeadLettersInput>> {
  const letters = createDeadLetters(deps.inventory.store);
  return async ({ replay }, { event }) => {
    if (event) {
      const letter = toDeadLetter(event, deps.clock.now());
      deps.log.warn(
        { type: event.type, id: event.id, given: letter.function, why: letter.lastError },
        'event undeliverable',
      );
      await letters.add(letter);
      return done(undefined);
    }
    const kept = await letters.list();
    if (replay === undefined) return done({ deadLetters: kept });
    const missing = replay === 'all' ? [] : replay.filter((id) => !kept.some((one) => one.id === id));
    if (missing.length > 0) return rejected(`there is no dead letter ${missing.join(', ')}`);
    const wanted = kept.filter(({ id }) => replay === 'all' || replay.includes(id));
    for (const { id, event: again } of wanted) {
      await deps.sink.emit(again);
      await letters.remove(id);
    }
    return done({ replayed: wanted.map(({ id }) => id) });
  };
}
