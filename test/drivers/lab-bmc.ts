import type { DriverDeps, PowerDriver } from '../../shared/ports/power.ts';
import { type Bmc, type BmcOptions, startBmc } from '../../simulator/lab/rack/bmc.ts';
import { manualClock } from '../../simulator/lab/rack/clock.ts';
import type { MachineInput } from '../../simulator/lab/rack/description.ts';
import type { FaultName } from '../../simulator/lab/rack/faults.ts';
import { SimulatedMachine } from '../../simulator/lab/rack/machine.ts';
import { credentials, driverOf, machineSpec } from './harness.ts';

export interface LabBmc {
  readonly bmc: Bmc;
  readonly machine: SimulatedMachine;
  readonly clock: ReturnType<typeof manualClock>;
  /** How long the driver wanted to wait, each time; the lab's time went on by as much. */
  readonly slept: readonly number[];
  driver(options?: Record<string, unknown>, deps?: Partial<DriverDeps>): Promise<PowerDriver>;
  fault(name: FaultName, options?: object): void;
  close(): Promise<void>;
}

/** A machine of the lab whose time stands still, with the credentials of the tests. */
export async function startLabBmc(
  more: Partial<MachineInput> = {},
  options: BmcOptions = {},
): Promise<LabBmc> {
  const clock = manualClock();
  const { username: user, password } = credentials;
  const machine = new SimulatedMachine(
    { name: 'mini-1', cpu: 4, memory: '8Gi', credentials: { user, password }, ...more },
    clock,
  );
  const bmc = await startBmc(machine, options);
  const slept: number[] = [];
  const driverClock: DriverDeps['clock'] = {
    now: clock.now,
    monotonic: clock.now,
    async sleep(ms) {
      slept.push(ms);
      clock.advance(ms);
    },
  };
  return {
    bmc,
    machine,
    clock,
    slept,
    driver: (driverOptions, deps) =>
      driverOf(machineSpec(bmc.url, { options: driverOptions }), { clock: driverClock, ...deps }),
    fault: (name, faultOptions = {}) => void machine.faults.set({ fault: name, ...faultOptions }),
    async close() {
      machine.stop();
      await bmc.close();
    },
  };
}
