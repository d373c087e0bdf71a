import type { OperationEnd } from './lifecycle.ts';
import type { MachineSpec, PowerVerb } from './machine.ts';

/** One intent being carried out. Its id makes repeats harmless: a machine accepts one operation at a time. */
export interface Operation {
  readonly id: string;
  readonly machine: string;
  readonly goal: 'on' | 'off';
  readonly why: string;
  /** A person said that it may be the last one that serves. */
  readonly last?: boolean | undefined;
  readonly decision?: string | undefined;
  /** The machine as it was described when the intent was written: later edits do not change an operation. */
  readonly spec: MachineSpec;
  readonly createdAt: number;
  /** Every command, written down before it is sent: after a crash it may or may not have reached the BMC. */
  readonly commands: readonly { readonly verb: PowerVerb; readonly at: number }[];
  /** How far its boot has come, and who said so; the last few. */
  readonly progress?: readonly Progress[] | undefined;
  readonly end?: OperationEnd | undefined;
  readonly endedAt?: number | undefined;
  readonly error?: string | undefined;
}

interface Progress {
  readonly at: number;
  readonly what: string;
}
