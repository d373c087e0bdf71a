import { bootProblem } from '../core/machine/boot.ts';
import type { MachineSpec } from '../core/machine/machine.ts';
import type { Clock } from '../ports/clock.ts';
import { PowerError } from '../ports/power.ts';
import { driverFor } from './index.ts';

const unused = (): never => {
  throw new Error('not needed to check');
};
const jobs = { ensure: unused, read: unused, latest: unused };
const clock: Clock = { now: unused, monotonic: unused, sleep: unused };

/** What is wrong with a machine's driver options and boot profile, without contacting anything; undefined: nothing. */
export async function machineProblem(spec: MachineSpec): Promise<string | undefined> {
  try {
    const driver = await driverFor(spec, {
      credentials: unused,
      resolve: unused,
      nodeOf: unused,
      jobs,
      clock,
    });
    return bootProblem(spec, driver.capabilities.bootFromNetwork);
  } catch (error) {
    if (error instanceof PowerError) return error.message;
    throw error;
  }
}
