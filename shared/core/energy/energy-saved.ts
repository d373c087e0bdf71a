import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';

/** What all machines draw, against what they would if none were ever powered off. */
export interface Energy {
  readonly since: number;
  readonly at: number;
  readonly watts: number;
  readonly allOn: number;
  readonly wattHours: number;
  readonly wattHoursSaved: number;
}

/** A gap longer than this was not observed: nothing is counted for it. */
const longestGapMs = 15 * 60_000;
const hourMs = 3_600_000;

/** Measured where the BMC measures; otherwise half-way between idle and maximum while it is on. */
function drawOf(machine: Machine): { readonly now: number; readonly ifOn: number } {
  const { spec, status, metrics } = machine;
  const declared = spec.watts ? (spec.watts.idle + spec.watts.max) / 2 : 0;
  const on =
    status.powerState === 'on' || (status.powerState === 'unknown' && capacityOf(machine) !== 'none');
  const now = on ? (metrics.watts ?? declared) : 0;
  if (on || spec.made) return { now, ifOn: now };
  // It would idle.
  return { now, ifOn: spec.watts?.idle ?? 0 };
}

/** Adds what was drawn and saved since the last time. */
export function addEnergy(before: Energy | undefined, machines: readonly Machine[], now: number): Energy {
  const draws = machines.map(drawOf);
  const watts = draws.reduce((sum, draw) => sum + draw.now, 0);
  const allOn = draws.reduce((sum, draw) => sum + draw.ifOn, 0);
  const gap = before ? now - before.at : 0;
  const hours = gap > 0 && gap <= longestGapMs ? gap / hourMs : 0;
  const saved = before ? before.allOn - before.watts : 0;
  return {
    since: before?.since ?? now,
    at: now,
    watts,
    allOn,
    wattHours: (before?.wattHours ?? 0) + (before?.watts ?? 0) * hours,
    wattHoursSaved: (before?.wattHoursSaved ?? 0) + saved * hours,
  };
}
