import { type DemandSample, HistoryError } from './demand-csv.ts';

/** How many machines were needed at each step. */
export interface History {
  readonly start: number;
  readonly stepMs: number;
  readonly needs: readonly number[];
  /** Steps that no row fell into: the need before them was taken to last. */
  readonly filled: number;
  /** The most that the rows say there were. */
  readonly total?: number | undefined;
}

const mostSteps = 5_000_000;

/** The usual distance between two rows. */
export function usualStep(samples: readonly DemandSample[]): number {
  const gaps = samples.slice(1).map(({ at }, index) => at - (samples[index]?.at ?? at));
  const sorted = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 60_000;
}

/** Rows of any spacing, put on equal steps: within a step the most counts, since that many had to be on. */
export function toHistory(samples: readonly DemandSample[], stepMs: number): History {
  const first = samples[0]?.at ?? 0;
  const start = Math.floor(first / stepMs) * stepMs;
  const steps = Math.floor(((samples.at(-1)?.at ?? first) - start) / stepMs) + 1;
  if (steps > mostSteps)
    throw new HistoryError(`${steps} steps are too many: choose a longer --step or a shorter history`);
  const known = new Array<number | undefined>(steps).fill(undefined);
  for (const { at, active } of samples) {
    const index = Math.floor((at - start) / stepMs);
    known[index] = Math.max(known[index] ?? 0, active);
  }
  let last = 0;
  let filled = 0;
  const needs = known.map((need) => {
    if (need === undefined) filled += 1;
    else last = need;
    return last;
  });
  const total = samples.reduce((most, { total: of }) => Math.max(most, of ?? 0), 0);
  return { start, stepMs, needs, filled, ...(total > 0 && { total }) };
}
