import type { MachineSpec } from '../../core/machine/machine.ts';
import type { DriverDeps } from '../../ports/power.ts';
import type { Fail } from '../common/failure.ts';
import type { Address } from './address.ts';
import type { Secrets } from './login.ts';
import type { Options } from './options.ts';

/** A machine's BMC, and all that is needed to talk to it. */
export interface Target {
  readonly spec: MachineSpec;
  readonly address: Address;
  readonly options: Options;
  readonly resolve: DriverDeps['resolve'];
  /** Read at every call, so that a rotation needs no restart. */
  readonly secrets: () => Promise<Secrets>;
  readonly fail: Fail;
}
