import { createRandom } from './random.ts';

export interface Shape {
  readonly machines: number;
  readonly needs: readonly number[];
}

const stepMs = 600_000;
const dayMs = 86_400_000;
const perDay = dayMs / stepMs;

/** Roughly normal, with a spread of one. */
const normal = (random: () => number): number =>
  Array.from({ length: 6 }, random).reduce((sum, each) => sum + each, -3) * Math.SQRT2;

/** Monday is the first day. */
const hourOf = (step: number): number => (step % perDay) / (perDay / 24);
const dayOf = (step: number): number => Math.floor(step / perDay) % 7;

/** What a kind of cluster needs, step by step. Made up, each in another way: a method that wins on all of them is no fluke. */
const makers: Readonly<
  Record<string, (random: () => number, step: number, last: number, days: number) => number>
> = {
  'office hours': (random, step) => {
    const working = dayOf(step) < 5 && hourOf(step) >= 8 && hourOf(step) < 18;
    return (working ? 60 : 12) + 3 * normal(random);
  },
  'daily wave': (random, step) =>
    50 +
    25 * Math.sin(((hourOf(step) - 9) / 24) * 2 * Math.PI) * (dayOf(step) < 5 ? 1 : 0.4) +
    2 * normal(random),
  'batch bursts': (random, step, last) => {
    const nightly = Math.floor(hourOf(step)) === 2 ? 40 : 0;
    const begins = random() < 0.02 ? 10 + 50 * random() : 0;
    return Math.max(6 + nightly, last * 0.85) + begins;
  },
  trend: (random, step, _last, days) => 20 + (60 * step) / (days * perDay) + 3 * normal(random),
  'random walk': (random, _step, last) => Math.min(95, Math.max(5, (last || 50) + 2 * normal(random))),
  flat: () => 40,
  sparse: (random, _step, last) =>
    last > 0 ? (random() < 0.15 ? 0 : last) : random() < 0.01 ? 1 + 7 * random() : 0,
  'busy cluster': (random, step, last) => {
    const usual = 75 + 8 * Math.sin(((hourOf(step) - 10) / 24) * 2 * Math.PI);
    return Math.min(99, last === 0 ? usual : last + 0.05 * (usual - last) + 2.5 * normal(random));
  },
};

/** Histories of ten-minute steps with a hundred machines, the same for the same seed. */
export function shapes(days: number, seed: number): ReadonlyMap<string, Shape> {
  return new Map(
    Object.entries(makers).map(([name, make], index) => {
      const random = createRandom(seed * 1_000 + index);
      let last = 0;
      const needs = Array.from({ length: days * perDay }, (_, step) => {
        last = Math.max(0, make(random, step, last, days));
        return Math.min(100, Math.round(last));
      });
      return [name, { machines: 100, needs }];
    }),
  );
}

export const shapeStepMs = stepMs;
