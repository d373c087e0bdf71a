import fc from 'fast-check';
import { createForecaster } from '../../shared/core/forecast/forecaster.ts';
import { createLinearModel } from '../../shared/core/forecast/least-squares.ts';
import { methods } from '../../shared/core/forecast/methods.ts';
import { createSlots } from '../../shared/core/forecast/slots.ts';

const stepMs = 600_000;
const perDay = 144;

/** Needs, and what was expected after each of them. */
function walk(needs: readonly number[], confidence: number, lead = 1, names?: readonly string[]) {
  const forecaster = createForecaster(stepMs, lead, [confidence], names);
  const extras = needs.map((need, step) => {
    forecaster.observe(step * stepMs, need);
    return forecaster.expect(confidence).extra;
  });
  return { extras, last: forecaster.expect(confidence) };
}

const misses = (needs: readonly number[], extras: readonly number[], from: number): number => {
  const missed = needs.filter(
    (need, step) => step > from && need > (needs[step - 1] ?? 0) + (extras[step - 1] ?? 0),
  );
  return missed.length / (needs.length - from);
};

/** Ten by night and forty from 8 to 18 o'clock. */
const office = (step: number): number => (step % perDay >= 48 && step % perDay < 108 ? 40 : 10);

describe('the slots of a day', () => {
  test('keep the mean of each time of the day apart', () => {
    const slots = createSlots(1, 3_600_000, 0.1);
    slots.add(0, 4);
    slots.add(86_400_000, 6);
    slots.add(3_600_000, 100);
    expect(slots.mean(2 * 86_400_000 + 60_000)).toBe(5);
    expect(slots.mean(3_600_000)).toBe(100);
    expect(slots.mean(7_200_000)).toBeUndefined();
  });
});

describe('the linear model', () => {
  test('finds the weights of a plane', () => {
    const model = createLinearModel(2);
    for (let row = 0; row < 200; row += 1) {
      const [a, b] = [row % 7, row % 5];
      model.learn([a, b], 3 * a - 2 * b);
    }
    expect(model.predict([10, 1])).toBeCloseTo(28, 1);
  });

  test('stays finite when every row is the same', () => {
    const model = createLinearModel(2);
    for (let row = 0; row < 50_000; row += 1) model.learn([1, 0], 5);
    expect(model.predict([1, 0])).toBeCloseTo(5, 3);
    expect(Math.abs(model.predict([1, 1]))).toBeLessThan(100);
  });
});

describe('a forecast', () => {
  test('expects nothing of a need that never changes', () => {
    const { extras } = walk(new Array<number>(1_000).fill(40), 0.95);
    expect(extras.slice(500).every((extra) => extra === 0)).toBe(true);
  });

  test('with no history it says so and expects about what is there', () => {
    const forecaster = createForecaster(stepMs, 1, [0.9]);
    expect(forecaster.expect(0.9)).toMatchObject({ extra: 0, samples: 0 });
    forecaster.observe(0, 12);
    const { extra, samples } = forecaster.expect(0.9);
    expect(samples).toBe(1);
    expect(extra).toBeLessThanOrEqual(5);
  });

  test('learns office hours: nearly all machines are there when they begin, and not an hour before', () => {
    const needs = Array.from({ length: 28 * perDay }, (_, step) => office(step));
    const { extras, last } = walk(needs, 0.95);
    const day = 27 * perDay;
    expect((needs[day + 47] ?? 0) + (extras[day + 47] ?? 0)).toBeGreaterThanOrEqual(36);
    expect(extras[day + 40]).toBeLessThan(10);
    expect(last.costs[last.method]).toBeLessThan(last.costs.constant ?? 0);
  });

  test('is wrong about as often as its confidence says, on whatever comes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.constantFrom(0.8, 0.9, 0.95), (seed, confidence) => {
        let state = seed;
        let need = 50;
        const needs = Array.from({ length: 3_000 }, () => {
          state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
          need = Math.max(0, need + Math.round((state / 2 ** 31 - 0.5) * 12));
          return need;
        });
        const { extras } = walk(needs, confidence);
        expect(Math.abs(misses(needs, extras, 500) - (1 - confidence))).toBeLessThan(0.03);
      }),
      { numRuns: 20 },
    );
  });

  test('a higher confidence never misses more often', () => {
    const needs = Array.from({ length: 2_000 }, (_, step) => office(step) + ((step * 7) % 5));
    const rates = [0.6, 0.8, 0.95].map((confidence) => misses(needs, walk(needs, confidence).extras, 500));
    expect(rates).toEqual(rates.toSorted((a, b) => b - a));
  });

  test('every method by itself gives whole, finite numbers', () => {
    const needs = Array.from({ length: 500 }, (_, step) => (step % 50 === 0 ? 90 : step % 3));
    for (const name of Object.keys(methods)) {
      const { extras } = walk(needs, 0.9, 6, [name]);
      expect(extras.every((extra) => Number.isInteger(extra) && extra >= 0)).toBe(true);
    }
  });

  test('a method that is not there is refused', () => {
    expect(() => createForecaster(stepMs, 1, [0.9], ['tea leaves'])).toThrow('there is no method tea leaves');
  });
});
