import type { MachineSpec } from '../../core/machine/machine.ts';
import type { Fail } from '../../http/failure.ts';
import { PowerError } from '../../ports/power.ts';

export type { Fail };

/** Errors are kept and shown: what a device lists in them must not fill the store. */
const longest = 500;

/** Makes errors that begin with the machine's name. No cause: it might carry what was sent. */
export const failureOf =
  ({ name }: Pick<MachineSpec, 'name'>): Fail =>
  (code, message, retryAfterMs) =>
    new PowerError(code, `${name}: ${message.slice(0, longest)}`, { retryAfterMs });
