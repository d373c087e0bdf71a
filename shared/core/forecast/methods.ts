import { createLinearModel } from './least-squares.ts';
import { createSlots } from './slots.ts';

/** How far the need will rise at most within the lead, as one method expects it, and how far it is usually off. */
export interface Guess {
  readonly rise: number;
  readonly scale: number;
}

export interface Method {
  /** From all that was observed so far, for the time of the last sample. */
  guess(): Guess;
  /** The need at the next step. */
  observe(at: number, need: number): void;
  /** The rise that came true for the guess made at that time. */
  learn(at: number, rise: number, guess: Guess): void;
}

const hourMs = 3_600_000;

/** Of ordinary scatter, so that a series that never moves has a scale too. */
const leastScale = 0.5;

/** A running mean with the memory of so many values. */
function running(memory: number): { value: number; add(sample: number): void } {
  let seen = 0;
  const mean = {
    value: 0,
    add(sample: number) {
      seen += 1;
      mean.value += Math.max(1 / seen, 1 / memory) * (sample - mean.value);
    },
  };
  return mean;
}

/** As now, with a margin that is the same at all times. */
function constant(): Method {
  return { guess: () => ({ rise: 0, scale: 1 }), observe: () => undefined, learn: () => undefined };
}

/** As now, with a margin that grows while the need moves about. */
function recent(stepMs: number): Method {
  const moves = running(Math.max(3, (6 * hourMs) / stepMs));
  let last: number | undefined;
  return {
    guess: () => ({ rise: 0, scale: leastScale + moves.value }),
    observe(_at, need) {
      if (last !== undefined) moves.add(Math.abs(need - last));
      last = need;
    },
    learn: () => undefined,
  };
}

/** As much more as there usually was at this time of the day, or of the week. */
function seasonal(days: 1 | 7, slotMs: number, rate: number): Method {
  const rises = createSlots(days, slotMs, rate);
  let now = 0;
  return {
    guess: () => ({ rise: rises.mean(now) ?? 0, scale: leastScale + rises.deviation(now) }),
    observe(at) {
      now = at;
    },
    learn: (at, rise) => rises.add(at, rise),
  };
}

/** A level, a trend and the time of the day, each smoothed exponentially (Holt-Winters, additive, damped trend). */
function smoothing(stepMs: number, lead: number): Method {
  const slot = Math.max(stepMs, hourMs / 2);
  const season = createSlots(1, slot, 0.05);
  const misses = running(500);
  let level: number | undefined;
  let trend = 0;
  let now = 0;
  let current = 0;
  return {
    guess() {
      let most = Number.NEGATIVE_INFINITY;
      let damped = 0;
      for (let ahead = 1; ahead <= lead; ahead += 1) {
        damped += 0.9 ** ahead;
        const then = now + ahead * stepMs;
        most = Math.max(most, (level ?? current) + damped * trend + (season.mean(then) ?? 0));
      }
      return { rise: most - current, scale: leastScale + misses.value };
    },
    observe(at, need) {
      const usual = season.mean(at) ?? 0;
      const before = level ?? need - usual;
      level = 0.7 * (need - usual) + 0.3 * (before + 0.9 * trend);
      trend = 0.1 * (level - before) + 0.9 * 0.9 * trend;
      season.add(at, need - level);
      now = at;
      current = need;
    },
    learn: (_at, rise, { rise: expected }) => misses.add(Math.abs(rise - expected)),
  };
}

/** A few plain numbers, weighted as they proved right: the last moves, the usual level and rise at this time. */
function linear(stepMs: number, lead: number): Method {
  const width = 9;
  const model = createLinearModel(width);
  const dayRises = createSlots(1, hourMs / 2, 0.05);
  const weekRises = createSlots(7, hourMs, 0.04);
  const dayLevel = createSlots(1, hourMs / 2, 0.05);
  const weekLevel = createSlots(7, hourMs, 0.04);
  const moves = running(Math.max(3, (6 * hourMs) / stepMs));
  const misses = running(300);
  const ofLate = running(Math.max(3, (24 * hourMs) / stepMs));
  const back = Math.max(2, Math.round(hourMs / stepMs));
  const past: number[] = [];
  const rows = new Map<number, readonly number[]>();
  let now = 0;
  const rowOf = (): readonly number[] => {
    const current = past.at(-1) ?? 0;
    const unit = leastScale + moves.value;
    const ahead = now + lead * stepMs;
    return [
      unit,
      current - (past.at(-2) ?? current),
      current - (past.at(-3) ?? current),
      current - (past[0] ?? current),
      current - ofLate.value,
      (dayLevel.mean(ahead) ?? current) - current,
      (weekLevel.mean(ahead) ?? current) - current,
      dayRises.mean(now) ?? 0,
      weekRises.mean(now) ?? 0,
    ];
  };
  return {
    guess() {
      const row = rowOf();
      rows.set(now, row);
      const unit = leastScale + moves.value;
      return { rise: model.predict(row), scale: 0.5 * (leastScale + misses.value) + 0.5 * unit };
    },
    observe(at, need) {
      if (past.length > 0) moves.add(Math.abs(need - (past.at(-1) ?? need)));
      past.push(need);
      if (past.length > back + 1) past.shift();
      ofLate.add(need);
      dayLevel.add(at, need);
      weekLevel.add(at, need);
      now = at;
    },
    learn(at, rise, { rise: expected }) {
      const row = rows.get(at);
      rows.delete(at);
      if (row) model.learn(row, rise);
      misses.add(Math.abs(rise - expected));
      dayRises.add(at, rise);
      weekRises.add(at, rise);
    },
  };
}

/** Every method there is; which one is used is decided by how well each did on the pool's own history. */
export const methods: Readonly<Record<string, (stepMs: number, lead: number) => Method>> = {
  constant,
  recent,
  'time of day': (stepMs) => seasonal(1, Math.max(stepMs, hourMs / 2), 0.05),
  'time of week': (stepMs) => seasonal(7, Math.max(stepMs, hourMs), 0.04),
  smoothing,
  linear,
};
