import { openStore } from '../../shared/adapters/store/open-store.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { keys } from '../../shared/state/keys.ts';
import { closing } from '../support/cleanup.ts';

test('events that were given up on are kept with why, and only the newest of them', async () => {
  const store = closing(await openStore('embedded:'));
  const letters = createDeadLetters(store);
  const letter = (at: number) => ({
    event: { type: 'dev.bamel.test.poison', subject: 'm-1', data: { machine: 'm-1' } },
    function: 'power-action',
    tries: 10,
    lastError: `failed at ${at}`,
    at,
  });
  // Something else that is remembered of events, which is not theirs to forget.
  await store.commit([], [{ put: keys.seenEvent('event-1'), value: '{"v":1}' }]);
  for (let at = 1; at <= 520; at += 1) await letters.add(letter(at));
  const { entries } = await store.list(keys.seen);
  const dead = entries.filter(({ key }) => key.startsWith(`${keys.seen}dead-`));
  expect(dead.map(({ value }) => JSON.parse(value).at)).toEqual(
    Array.from({ length: 500 }, (_, n) => n + 21),
  );
  expect(JSON.parse(dead.at(-1)?.value ?? '')).toEqual({ v: 1, dead: true, ...letter(520) });
  expect(entries).toHaveLength(501);
});
