import fc from 'fast-check';
import { type CountsPolicy, runCounts, timelineOf } from '../../shared/core/forecast/counts.ts';
import { expect as expectations } from '../../simulator/replay/expectations.ts';
import { runOracle } from '../../simulator/replay/oracle.ts';

const minute = 60_000;
const rack = { machines: 5, bootMs: 5 * minute, stepMs: 10 * minute };

const run = (needs: readonly number[], policy: CountsPolicy, of = rack) => {
  const [result] = runCounts(needs, of, policy, { trace: true });
  if (!result) throw new Error('no result');
  return result;
};

describe('a replay of counts', () => {
  test('a machine boots for five minutes, serves for fifteen and leaves after ten', () => {
    // Needed at 0 and 10; idle from 20 to 30, then off.
    const result = run([1, 1, 0, 0, 0], { unneededForMs: 10 * minute });
    expect(result).toMatchObject({
      onMs: 30 * minute,
      busyMs: 15 * minute,
      missingMs: 5 * minute,
      wakeUps: 1,
      wakeUpSteps: 1,
      shortSteps: 1,
      on: [0, 1, 1, 1, 0],
    });
  });

  test('a machine that is still idle takes the next pod: no wake-up, nobody waits', () => {
    const result = run([2, 1, 2], { unneededForMs: 30 * minute });
    expect(result).toMatchObject({ wakeUps: 2, shortSteps: 1 });
  });

  test('a spare machine is on before it is needed', () => {
    const spare: CountsPolicy = {
      unneededForMs: 0,
      target: (_step, need) => ({ atLeast: need + 1, keep: need + 1 }),
    };
    const result = run([0, 1, 2], spare);
    expect(result.shortSteps).toBe(0);
    // At 5 and at 15 minutes, just in time for the next step; and one more at 25.
    expect(result.wakeUps).toBe(3);
  });

  test('never more machines than there are', () => {
    const result = run([9, 9], { unneededForMs: 0 });
    expect(result).toMatchObject({ wakeUps: 5, shortSteps: 2, on: [0, 5] });
  });

  test('a machine that boots longer than a step is missed in several', () => {
    const result = run([1, 1, 1], { unneededForMs: 0 }, { ...rack, bootMs: 15 * minute });
    expect(result).toMatchObject({ shortSteps: 2, missingMs: 15 * minute });
  });

  test('counting begins where it is told to', () => {
    const needs = [3, 3, 3, 3];
    const results = runCounts(needs, rack, { unneededForMs: 0 }, { cuts: [1, 2, 4] });
    expect(results.map(({ steps, wakeUps, shortSteps }) => [steps, wakeUps, shortSteps])).toEqual([
      [1, 0, 0],
      [2, 0, 0],
    ]);
  });
});

describe('the oracle', () => {
  test('boots just in time and stays on through short pauses', () => {
    const result = runOracle([0, 2, 1, 2, 0], rack);
    expect(result).toMatchObject({ shortSteps: 0, missingMs: 0, wakeUps: 3, busyMs: 50 * minute });
    expect(result.onMs).toBe(50 * minute + 3 * 5 * minute);
    const slow = runOracle([0, 2, 1, 2, 0], { ...rack, bootMs: 12 * minute });
    expect(slow).toMatchObject({ wakeUps: 2, onMs: (50 + 2 * 12 + 10) * minute });
  });
});

const histories = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 120 });
const minutes = (min: number, max: number) => fc.integer({ min, max }).map((each) => each * minute);

describe('with the forecast on', () => {
  test('nobody waits longer than without it, and no limit is exceeded', () => {
    fc.assert(
      fc.property(
        histories,
        fc.integer({ min: 1, max: 8 }),
        minutes(1, 25),
        minutes(0, 40),
        fc.constantFrom(0.5, 0.9, 0.99),
        fc.constantFrom(1, 0.8, 0.3),
        (needs, machines, bootMs, unneededForMs, confidence, keep) => {
          const of = { machines, bootMs, stepMs: 10 * minute };
          const without = run(needs, { unneededForMs }, of);
          const history = { start: 0, stepMs: of.stepMs, needs, filled: 0 };
          const { target } = expectations(history, { bootMs, horizonMs: 60 * minute });
          const floor = timelineOf(needs, of, unneededForMs);
          const withIt = run(needs, { unneededForMs, target: target({ confidence, keep }), floor }, of);
          expect(withIt.missingMs).toBeLessThanOrEqual(without.missingMs);
          expect(withIt.shortSteps).toBeLessThanOrEqual(without.shortSteps);
          expect(Math.max(...(withIt.on ?? []))).toBeLessThanOrEqual(machines);
          for (const [step, on] of (withIt.on ?? []).entries())
            expect(on).toBeGreaterThanOrEqual(without.on?.[step] ?? 0);
        },
      ),
      { numRuns: 300 },
    );
  });
});
