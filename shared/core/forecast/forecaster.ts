import { adjusted, firstMargin, type Margin } from './margin.ts';
import { type Guess, type Method, methods } from './methods.ts';

/** How many more machines than now will be needed within the lead, at most, as far as the confidence goes. */
export interface Expectation {
  readonly extra: number;
  readonly method: string;
  /** What each method would have cost so far per step, in machines: idle ones, and missing ones weighted by the confidence. */
  readonly costs: Readonly<Record<string, number>>;
  /** Samples that it was learned from. */
  readonly samples: number;
}

export interface Forecaster {
  /** The need at the next step; steps are of equal length. */
  observe(at: number, need: number): void;
  /** What is expected at the last step, for each of the confidences. */
  expect(confidence: number): Expectation;
}

interface Bet {
  margin: Margin;
  /** Of late, per step. */
  cost: number;
}

interface Pending {
  readonly at: number;
  readonly need: number;
  readonly guesses: readonly Guess[];
  /** Extra machines by confidence and method. */
  readonly extras: readonly (readonly number[])[];
}

/** Steps after which what a method cost counts a third. */
const costMemory = 1_000;
/** A method must be better by this share to replace the one in use: no change back and forth. */
const clearlyBetter = 0.97;

const extraOf = ({ rise, scale }: Guess, { width }: Margin): number =>
  Math.max(0, Math.floor(rise + width * scale + 0.5));

/** Runs every method beside the others on the same history and uses the one that would have cost least so far. */
export function createForecaster(
  stepMs: number,
  lead: number,
  confidences: readonly number[],
  names: readonly string[] = Object.keys(methods),
): Forecaster {
  const all = names.map((name): Method => {
    const make = methods[name];
    if (!make) throw new Error(`there is no method ${name}`);
    return make(stepMs, lead);
  });
  const bets = confidences.map((confidence) =>
    names.map((): Bet => ({ margin: firstMargin(confidence), cost: 0 })),
  );
  const inUse = confidences.map(() => 0);
  const pending: Pending[] = [];
  const lastNeeds: number[] = [];
  let samples = 0;
  let settled = 0;

  const settle = ({ at, need, guesses, extras }: Pending): void => {
    const rise = Math.max(...lastNeeds) - need;
    settled += 1;
    for (const [index, method] of all.entries()) {
      const guess = guesses[index];
      if (guess) method.learn(at, rise, guess);
    }
    const weight = Math.max(1 / settled, 1 / costMemory);
    for (const [row, confidence] of confidences.entries()) {
      for (const [index, bet] of (bets[row] ?? []).entries()) {
        const extra = extras[row]?.[index] ?? 0;
        const idle = extra - Math.max(0, rise);
        const cost = idle >= 0 ? (1 - confidence) * idle : confidence * -idle;
        bet.cost += weight * (cost / (1 - confidence) - bet.cost);
        bet.margin = adjusted(bet.margin, rise > extra, confidence);
      }
      inUse[row] = best(bets[row] ?? [], inUse[row] ?? 0);
    }
  };

  return {
    observe(at, need) {
      lastNeeds.push(need);
      if (lastNeeds.length > lead) lastNeeds.shift();
      const due = pending.length >= lead ? pending.shift() : undefined;
      if (due) settle(due);
      for (const method of all) method.observe(at, need);
      const guesses = all.map((method) => method.guess());
      const extras = bets.map((ofOne) =>
        ofOne.map(({ margin }, index) => extraOf(guesses[index] ?? { rise: 0, scale: 1 }, margin)),
      );
      pending.push({ at, need, guesses, extras });
      samples += 1;
    },
    expect(confidence) {
      const row = confidences.indexOf(confidence);
      const index = inUse[row] ?? 0;
      return {
        extra: pending.at(-1)?.extras[row]?.[index] ?? 0,
        method: names[index] ?? '',
        costs: Object.fromEntries(names.map((name, at) => [name, bets[row]?.[at]?.cost ?? 0])),
        samples,
      };
    },
  };
}

function best(bets: readonly Bet[], current: number): number {
  let found = current;
  for (const [index, { cost }] of bets.entries())
    if (cost < clearlyBetter * (bets[found]?.cost ?? 0)) found = index;
  return found;
}
