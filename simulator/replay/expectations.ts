import type { Target } from '../../shared/core/forecast/counts.ts';
import { createForecaster, type Expectation } from '../../shared/core/forecast/forecaster.ts';
import type { History } from './history.ts';

/** How a forecast is used: as a pool's `prewarm` says. */
export interface Prewarm {
  /** How sure it is to be that enough machines are on when they are needed. */
  readonly confidence: number;
  /** Idle machines that are likelier than this to be needed within the horizon are kept; 1: none is. */
  readonly keep: number;
}

export interface Expectations {
  target(prewarm: Prewarm): (step: number, need: number) => Target;
  /** What was expected at the last step, and how the methods compare. */
  last(confidence: number): Expectation;
}

export const confidences: readonly number[] = [
  0.3, 0.4, 0.5, 0.55, 0.6, 0.625, 0.65, 0.675, 0.7, 0.725, 0.75, 0.775, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99,
];
export const keeps: readonly number[] = [1, 0.9, 0.8, 0.7, 0.5, 0.3];

/** Walks through the history once: at every step only what came before is known. */
export function expect(
  { needs, start, stepMs }: History,
  { bootMs, horizonMs, also = [] }: { bootMs: number; horizonMs: number; also?: readonly number[] },
): Expectations {
  const sure = [...new Set([...confidences, ...also])];
  const within = keeps.filter((keep) => keep < 1);
  const lead = Math.max(1, Math.ceil(bootMs / stepMs));
  const next = createForecaster(stepMs, lead, sure);
  const later = createForecaster(
    stepMs,
    Math.max(lead, Math.round(horizonMs / stepMs)),
    within.map((keep) => 1 - keep),
  );
  const extras = sure.map(() => new Int32Array(needs.length));
  const kept = within.map(() => new Int32Array(needs.length));
  for (const [step, need] of needs.entries()) {
    next.observe(start + step * stepMs, need);
    later.observe(start + step * stepMs, need);
    for (const [row, confidence] of sure.entries())
      (extras[row] as Int32Array)[step] = next.expect(confidence).extra;
    for (const [row, keep] of within.entries())
      (kept[row] as Int32Array)[step] = later.expect(1 - keep).extra;
  }
  return {
    target({ confidence, keep }) {
      const extra = extras[sure.indexOf(confidence)];
      if (!extra) throw new Error(`nothing was worked out for a confidence of ${confidence}`);
      const hold = kept[within.indexOf(keep)];
      return (step, need) => {
        const atLeast = need + (extra[step] ?? 0);
        return { atLeast, keep: Math.max(atLeast, need + (hold?.[step] ?? 0)) };
      };
    },
    last: (confidence) => next.expect(confidence),
  };
}
