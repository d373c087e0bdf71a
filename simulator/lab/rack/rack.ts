import { type Bmc, type BmcOptions, startBmc } from './bmc.ts';
import { type Clock, realClock } from './clock.ts';
import type { MachineInput } from './description.ts';
import { type MachineHooks, SimulatedMachine } from './machine.ts';

export interface RackOptions extends MachineHooks {
  clock?: Clock;
  bmc?: Omit<BmcOptions, 'port'>;
}

export interface Rack {
  machines: ReadonlyMap<string, { machine: SimulatedMachine; bmc: Bmc }>;
  close(): Promise<void>;
}

/** Machines with a BMC each. Those described as on have booted when this returns. */
export async function startRack(inputs: MachineInput[], options: RackOptions = {}): Promise<Rack> {
  const clock = options.clock ?? realClock();
  const machines = new Map<string, { machine: SimulatedMachine; bmc: Bmc }>();
  const close = async () => {
    for (const { machine } of machines.values()) machine.stop();
    await Promise.all([...machines.values()].map(({ bmc }) => bmc.close()));
  };
  try {
    for (const input of inputs) {
      if (machines.has(input.name))
        throw new Error(`two machines are called ${input.name}: give each its own name`);
      const machine = new SimulatedMachine(input, clock, options);
      machines.set(machine.name, { machine, bmc: await startBmc(machine, options.bmc) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  for (const { machine } of machines.values()) if (machine.description.on) machine.startBooted();
  return { machines, close };
}
