import type { Health, MachineMetrics } from './machine.ts';

/** A measurement of a BMC. */
export interface Measured {
  readonly watts?: number | undefined;
  readonly celsius?: number | undefined;
  readonly health: Health;
  readonly problems: readonly string[];
}

/** Values that stay about the same are written again only after this. */
const refreshMs = 600_000;

/** Less than that is noise. */
const wattsThatCount = { least: 5, share: 0.1 };
const celsiusThatCount = 3;

/** Whether what was measured is worth a write: ten thousand machines measure all the time. */
export function isNews(known: MachineMetrics, seen: Measured, now: number): boolean {
  if (known.at === undefined || now - known.at >= refreshMs) return true;
  if (known.health !== seen.health) return true;
  if (JSON.stringify(known.problems ?? []) !== JSON.stringify(seen.problems)) return true;
  const tolerance = Math.max(wattsThatCount.least, wattsThatCount.share * (known.watts ?? 0));
  return differ(known.watts, seen.watts, tolerance) || differ(known.celsius, seen.celsius, celsiusThatCount);
}

function differ(before: number | undefined, now: number | undefined, tolerance: number): boolean {
  if (before === undefined || now === undefined) return before !== now;
  return Math.abs(now - before) > tolerance;
}

export const describeProblems = ({ health, problems }: Measured): string =>
  problems.length > 0 ? problems.join('; ') : `its BMC says ${health}`;

/** The moment within a period that a name stands for: many machines are looked at evenly, not all at once. */
function momentOf(name: string, periodMs: number): number {
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash % Math.max(1, periodMs);
}

/** The next time after `now` that falls on the name's moment of the period. */
export function nextMoment(name: string, periodMs: number, now: number): number {
  const period = Math.max(1, periodMs);
  const since = (now - momentOf(name, period)) % period;
  return now + period - since;
}
