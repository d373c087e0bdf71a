import type { MachineSpec } from '../../core/machine/machine.ts';
import type { Fail } from '../../http/failure.ts';
import { PowerError } from '../../ports/power.ts';

export type { Fail };

/** Errors are stored and shown: long lists of a device must not fill the store. */
const longest = 500;

/** Makes errors that begin with the machine's name. No cause: it might carry what was sent. */
export const failureOf =
  ({ name }: Pick<MachineSpec, 'name'>): Fail =>
  (code, message, retryAfterMs) =>
    new PowerError(code, `${name}: ${message.slice(0, longest)}`, { retryAfterMs });
