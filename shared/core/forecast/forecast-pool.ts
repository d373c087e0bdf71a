import type { PoolSpec } from '../settings.ts';
import { timelineOf } from './counts.ts';
import { createForecaster, type Expectation } from './forecaster.ts';
import { type NeedHistory, needStepMs } from './need-history.ts';
import type { PoolForecast } from './pool-forecast.ts';

/** A week: before that no forecast is trusted. */
const leastSamples = (7 * 86_400_000) / needStepMs;

/** Idle machines that are likelier than this to be needed within the horizon stay on. */
const keepAbove = 0.5;

export interface Learned {
  readonly history: NeedHistory;
  readonly next: Expectation;
  readonly later: Expectation;
}

/** Walks through the history once: the same history gives the same expectation. */
export function learn(
  history: NeedHistory,
  { confidence, horizonMs }: NonNullable<PoolSpec['prewarm']>,
  bootMs: number,
): Learned | undefined {
  if (history.needs.length < leastSamples) return undefined;
  const lead = Math.max(1, Math.ceil(bootMs / needStepMs));
  const next = createForecaster(needStepMs, lead, [confidence]);
  const later = createForecaster(needStepMs, Math.max(lead, Math.round(horizonMs / needStepMs)), [
    1 - keepAbove,
  ]);
  for (const [step, need] of history.needs.entries()) {
    const at = history.start + step * needStepMs;
    next.observe(at, need);
    later.observe(at, need);
  }
  return { history, next: next.expect(confidence), later: later.expect(1 - keepAbove) };
}

/**
 * What a pool is expected to need. Machines are powered on a boot before the next step; none that is on leaves while
 * the ordinary rules alone would have as many on.
 */
export function forecastPool(
  { name, prewarm }: PoolSpec,
  { history, next, later }: Learned,
  rack: { readonly machines: number; readonly bootMs: number; readonly unneededForMs: number },
  now: number,
): PoolForecast {
  const { confidence, horizonMs } = prewarm ?? { confidence: 0.5, horizonMs: 0 };
  const { machines, bootMs, unneededForMs } = rack;
  const needed = history.needs.at(-1) ?? 0;
  const day = history.needs.slice(-leastSamples / 7);
  const ordinary = timelineOf(day, { machines, bootMs, stepMs: needStepMs }, unneededForMs).on.at(-1) ?? 0;
  const stepEnds = history.start + history.needs.length * needStepMs;
  const most = (count: number): number => Math.min(machines, count);
  const atLeast = now >= stepEnds - bootMs ? most(needed + next.extra) : 0;
  return {
    pool: name,
    needed,
    atLeast,
    keep: most(Math.max(needed + next.extra, needed + later.extra, ordinary)),
    confidence,
    leadMs: Math.max(bootMs, needStepMs),
    horizonMs,
    method: next.method,
    samples: next.samples,
    costs: next.costs,
  };
}
