import { readFile } from 'node:fs/promises';
import { driverFor } from '../drivers/index.ts';
import { PowerError } from '../ports.ts';
import { ConfigError, type ConfigInput, parseConfig } from '../schema/config-file.ts';
import { MachineSpec } from '../schema/machine.ts';

/** Reads and checks the whole file, the drivers' own options included; nothing of a file with a mistake is used. */
export async function readConfig(path: string): Promise<ConfigInput> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(
      `${path}: cannot be read (${error.message}). It is what BAMEL_CONFIG or --config names`,
    );
  });
  const config = parseConfig(text, path);
  for (const machine of config.machines ?? []) checkDriver(machine, path);
  return config;
}

function checkDriver(machine: NonNullable<ConfigInput['machines']>[number], path: string): void {
  try {
    driverFor(MachineSpec.parse(machine), {
      credentials: () => Promise.reject(new Error('not needed to check')),
    });
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
    throw new ConfigError(`${path}: ${error.message}`);
  }
}
