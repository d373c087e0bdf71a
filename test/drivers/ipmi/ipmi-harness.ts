import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import type { PowerDriver } from '../../../shared/ports/power.ts';
import { credentials, driverOf, machineSpec } from '../harness.ts';

export interface IpmiWanted {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly spec?: Partial<MachineSpec>;
}

/** The driver for a BMC on that port of 127.0.0.1, as impatient as a loopback allows. */
export const ipmiDriver = (port: number, { options, secrets, spec }: IpmiWanted = {}): Promise<PowerDriver> =>
  driverOf(
    machineSpec(`127.0.0.1:${port}`, {
      powerInterface: 'ipmi',
      options: { retransmitAfter: '100ms', ...options },
      ...spec,
    }),
    { credentials: async () => ({ ...credentials, ...secrets }) },
  );
