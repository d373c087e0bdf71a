import type { PowerDriver } from '../../ports/power.ts';

/** A driver that can also stand beside another one, to power off what that one can only wake. */
export interface CompanionDriver extends PowerDriver {
  /** It stands between the machine and the mains, or starts it in its own way: it is told before any packet goes out. */
  readonly switchesOn: boolean;
}
