import type { SimulatedMachine } from './machine.ts';

/** What each Redfish ResetType does to a machine, whatever it is doing at the time. */
export const resets = {
  On: (machine) => machine.powerOn(),
  ForceOff: (machine) => machine.cutPower(),
  GracefulShutdown: (machine) => machine.askToStop(),
  GracefulRestart: (machine) => machine.askToStop('booting'),
  ForceRestart: (machine) => machine.cutPower('booting'),
  PowerCycle: (machine) => machine.cutPower('powering-on'),
  PushPowerButton: (machine) => (machine.phase === 'off' ? machine.powerOn() : machine.askToStop()),
} satisfies Record<string, (machine: SimulatedMachine) => void>;

export type ResetType = keyof typeof resets;
export const resetTypes = Object.keys(resets) as ResetType[];

export const isResetType = (type: unknown): type is ResetType => resetTypes.some((known) => known === type);

/** `ignored` looks like `done` to the caller; that is the point of it. */
export type ResetAnswer =
  | { kind: 'done' | 'ignored' }
  | { kind: 'task'; ms: number; ends: 'Completed' | 'Exception' }
  | { kind: 'refused'; status: 400 | 409 | 503; messageId: string; message: string };
