import { coalesce, skipFirst } from '../../shared/process/coalesce.ts';

// Fault 22 and what a storm does to the store: test/alertmanager. Here only what shares an evaluation.

test('fault 23: a storm of alerts is one evaluation per gathering, and the last alert is not missed', async () => {
  let gathered = Promise.withResolvers<void>();
  let seen = 0;
  const runs: number[] = [];
  const evaluate = coalesce(
    () => gathered.promise,
    async () => {
      runs.push(seen);
      return runs.length;
    },
  );
  const storm = () =>
    Array.from({ length: 10_000 }, () => {
      seen += 1;
      return evaluate();
    });
  const first = storm();
  gathered.resolve();
  expect(new Set(await Promise.all(first))).toEqual(new Set([1]));
  expect(runs).toEqual([10_000]);

  gathered = Promise.withResolvers<void>();
  const second = storm();
  gathered.resolve();
  await Promise.all(second);
  expect(runs).toEqual([10_000, 20_000]);
});

test('fault 23: who asks while an evaluation is under way gets one that begins afterwards', async () => {
  const finish = Promise.withResolvers<void>();
  let begun = 0;
  const evaluate = coalesce(
    () => Promise.resolve(),
    async () => {
      begun += 1;
      const mine = begun;
      if (mine === 1) await finish.promise;
      return mine;
    },
  );
  const first = evaluate();
  await new Promise((resolve) => setImmediate(resolve));
  const late = [evaluate(), evaluate()];
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toBe(1);
  finish.resolve();
  expect(await first).toBe(1);
  expect(await Promise.all(late)).toEqual([2, 2]);
});

test('the event that a process was started for is looked at at once; those after it gather', async () => {
  const gathered = Promise.withResolvers<void>();
  let runs = 0;
  const evaluate = coalesce(
    skipFirst(() => gathered.promise),
    async () => {
      runs += 1;
      return runs;
    },
  );
  expect(await evaluate()).toBe(1);
  const late = Array.from({ length: 100 }, () => evaluate());
  await new Promise((resolve) => setImmediate(resolve));
  expect(runs).toBe(1);
  gathered.resolve();
  expect(new Set(await Promise.all(late))).toEqual(new Set([2]));
});
