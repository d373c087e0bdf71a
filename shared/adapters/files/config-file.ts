import { readFile } from 'node:fs/promises';
import { bootProblem } from '../../core/machine/boot.ts';
import { driverFor } from '../../drivers/index.ts';
import { PowerError } from '../../ports/power.ts';
import { realClock } from '../../process/clock.ts';
import { ConfigError, type ConfigInput, parseConfig } from '../../schema/config-file.ts';
import { MachineSpec } from '../../schema/machine.ts';

/** Reads and checks the whole file, the drivers' own options included; nothing of a file with a mistake is used. */
export async function readConfig(path: string): Promise<ConfigInput> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(
      `${path}: cannot be read (${error.message}). It is what BAMEL_CONFIG or --config names`,
    );
  });
  return checkConfig(text, path);
}

/** Checks the whole text, wherever it is from; `name` is what its mistakes are told with. */
export async function checkConfig(text: string, name: string): Promise<ConfigInput> {
  const config = parseConfig(text, name);
  for (const machine of config.machines ?? []) await checkDriver(machine, name);
  return config;
}

async function checkDriver(
  machine: NonNullable<ConfigInput['machines']>[number],
  path: string,
): Promise<void> {
  const unused = (): never => {
    throw new Error('not needed to check');
  };
  const jobs = { ensure: unused, read: unused, latest: unused };
  try {
    const spec = MachineSpec.parse(machine);
    const { capabilities } = await driverFor(spec, {
      credentials: unused,
      resolve: unused,
      nodeOf: unused,
      jobs,
      clock: realClock,
    });
    const problem = bootProblem(spec, capabilities.bootFromNetwork);
    if (problem !== undefined) throw new PowerError('config', problem);
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    throw new ConfigError(`${path}: ${error.message}`);
  }
}
