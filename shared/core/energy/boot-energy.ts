import type { Machine } from '../machine/machine.ts';

/** What a boot takes, in watts times milliseconds: in between idle and all it can draw, for as long as it lasts. */
export function bootEnergy({ spec, status }: Machine): number {
  if (!spec.watts || status.learnedBootMs === undefined) return 0;
  return ((spec.watts.idle + spec.watts.max) / 2) * status.learnedBootMs;
}

/** How long a machine may idle for what booting it once more costs. */
export function breakEvenMs(machine: Machine): number {
  const idle = machine.spec.watts?.idle ?? 0;
  return idle > 0 ? Math.round(bootEnergy(machine) / idle) : 0;
}
