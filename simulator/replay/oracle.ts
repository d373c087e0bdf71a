import type { Rack } from '../../shared/core/forecast/counts.ts';
import type { Result } from '../../shared/core/forecast/result.ts';

/**
 * The least that any policy could use without anybody waiting: every machine is Ready just when it is needed, and it
 * stays on through pauses that are shorter than its boot. Equal machines, so the n-th is on while n are needed.
 */
export function runOracle(
  needs: readonly number[],
  { machines, bootMs, stepMs }: Rack,
  { from = 0, until = needs.length, trace = false } = {},
): Result {
  /** When the n-th machine was last needed. */
  const freeSince = new Float64Array(machines + 1).fill(Number.NEGATIVE_INFINITY);
  const extra = new Float64Array(trace ? needs.length + 1 : 0);
  let before = 0;
  const totals = { onMs: 0, busyMs: 0, missingMs: 0, wakeUps: 0, wakeUpSteps: 0, shortSteps: 0 };
  for (let step = 0; step < until; step += 1) {
    const need = Math.min(needs[step] ?? 0, machines);
    const counts = step >= from;
    let woke = false;
    for (let level = need + 1; level <= before; level += 1) freeSince[level] = step * stepMs;
    for (let level = before + 1; level <= need; level += 1) {
      const pause = step * stepMs - (freeSince[level] ?? 0);
      if (!counts) continue;
      totals.onMs += Math.min(pause, bootMs);
      if (pause > bootMs) {
        totals.wakeUps += 1;
        woke = true;
      }
      if (trace)
        for (let back = 1; back <= Math.ceil(Math.min(pause, bootMs) / stepMs); back += 1)
          extra[step - back] = (extra[step - back] ?? 0) + 1;
    }
    if (counts) {
      if (woke) totals.wakeUpSteps += 1;
      if ((needs[step] ?? 0) > machines) totals.shortSteps += 1;
      totals.onMs += need * stepMs;
      totals.busyMs += need * stepMs;
    }
    before = need;
  }
  const on = trace
    ? needs.slice(from, until).map((need, index) => Math.min(machines, need + (extra[from + index] ?? 0)))
    : undefined;
  return { forMs: (until - from) * stepMs, steps: until - from, ...totals, ...(on && { on }) };
}
