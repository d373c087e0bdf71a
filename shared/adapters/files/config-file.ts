import { readFile } from 'node:fs/promises';
import type { MachineSpec as Machine } from '../../core/machine/machine.ts';
import type { ConfigInput } from '../../schema/config.ts';
import { ConfigError, parseConfig } from '../../schema/config-file.ts';
import { MachineSpec } from '../../schema/machine.ts';

/** What is wrong with a machine, drivers' options included; undefined: nothing. */
export type CheckMachine = (spec: Machine) => Promise<string | undefined>;

/** Reads and checks the whole file, the drivers' own options included; nothing of a file with a mistake is used. */
export async function readConfig(path: string, machineProblem: CheckMachine): Promise<ConfigInput> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(
      `${path}: cannot be read (${error.message}). It is what BAMEL_CONFIG or --config names`,
    );
  });
  return checkConfig(text, path, machineProblem);
}

/** Checks the whole text, wherever it is from; `name` is what its mistakes are told with. */
export async function checkConfig(
  text: string,
  name: string,
  machineProblem: CheckMachine,
): Promise<ConfigInput> {
  const config = parseConfig(text, name);
  for (const machine of config.machines ?? []) {
    const problem = await machineProblem(MachineSpec.parse(machine));
    if (problem !== undefined) throw new ConfigError(`${name}: ${problem}`);
  }
  return config;
}
