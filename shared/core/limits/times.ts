import { capacityOf, stepOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';

const isToldOn = (machine: Machine): boolean =>
  capacityOf(machine) === 'coming' && stepOf(machine) === 'power-action';

/** Time of the last power-on command, if known. */
export function poweredOnAt(machine: Machine): number {
  const { status } = machine;
  const commandedAt = status.lastPowerAction === 'on' ? status.powerActionTime : undefined;
  const asked = isToldOn(machine) ? status.stateSince : undefined;
  return Math.max(commandedAt ?? 0, asked ?? 0, status.bootTime ?? 0);
}

/** When it last began to leave, or was off. */
export function leftAt(machine: Machine): number {
  const { state, stateSince, lastPowerAction } = machine.status;
  const ours = lastPowerAction === 'soft-off' || lastPowerAction === 'hard-off';
  return capacityOf(machine) === 'leaving' || (state === 'off' && ours) ? stateSince : 0;
}

export const failedAt = ({ status }: Machine): number => status.lastError?.at ?? 0;
