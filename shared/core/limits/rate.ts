import type { MachineSpec } from '../machine/machine.ts';
import type { Reason } from '../reasons/reason.ts';
import type { Settings } from '../settings.ts';

/** A power-on of the last minute. */
export interface PowerOn {
  readonly machine: string;
  readonly rack?: string | undefined;
  readonly powerCircuit?: string | undefined;
  readonly at: number;
}

const minuteMs = 60_000;

/** Machines that start together draw their inrush together. Why this one has to wait for others, or nothing. */
export function tooMany(
  { rack, powerCircuit }: Pick<MachineSpec, 'rack' | 'powerCircuit'>,
  recent: readonly PowerOn[],
  { perMinute, perRack, perCircuit }: Settings['rateLimits'],
  now: number,
): Reason | undefined {
  const counted = lastMinute(recent, now);
  const full = (limit: number, where: string, like: (one: PowerOn) => boolean): Reason | undefined =>
    limit > 0 && counted.filter(like).length >= limit
      ? { code: 'rate-limited', where, most: limit }
      : undefined;
  return (
    full(perMinute, 'the cluster', () => true) ??
    (rack === undefined ? undefined : full(perRack, `rack ${rack}`, (one) => one.rack === rack)) ??
    (powerCircuit === undefined
      ? undefined
      : full(perCircuit, `circuit ${powerCircuit}`, (one) => one.powerCircuit === powerCircuit))
  );
}

export const isLimited = ({ perMinute, perRack, perCircuit }: Settings['rateLimits']): boolean =>
  perMinute > 0 || perRack > 0 || perCircuit > 0;

/** A clock that is ahead must not block others for ever: what lies in the future counts as now, and passes. */
export const lastMinute = (recent: readonly PowerOn[], now: number): PowerOn[] =>
  recent.filter(({ at }) => Math.abs(now - at) < minuteMs);
