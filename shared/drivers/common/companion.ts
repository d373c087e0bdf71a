import type { PowerDriver } from '../../ports/power.ts';

/** A driver that can also stand beside another one, to power off what that one can only wake. */
export interface CompanionDriver extends PowerDriver {
  /**
   * It switches the mains of the machine, or starts it in its own way: it is commanded before any packet is
   * sent.
   */
  readonly switchesOn: boolean;
}
