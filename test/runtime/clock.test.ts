import { realClock } from '../../shared/process/clock.ts';

test('sleep resolves early, without an error, when its signal aborts', async () => {
  const abort = new AbortController();
  const asleep = realClock.sleep(3_600_000, abort.signal);
  abort.abort();
  expect(await asleep).toBeUndefined();
});

test('sleep does not start when its signal has aborted already', async () => {
  expect(await realClock.sleep(3_600_000, AbortSignal.abort())).toBeUndefined();
});

test('a sleep longer than a timer can be does not end at once', async () => {
  const abort = new AbortController();
  let ended = false;
  const asleep = realClock.sleep(2 ** 31, abort.signal).then(() => {
    ended = true;
  });
  await realClock.sleep(20);
  expect(ended).toBe(false);
  abort.abort();
  await asleep;
});
