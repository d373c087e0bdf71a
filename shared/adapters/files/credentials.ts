import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DriverDeps, PowerError } from '../../ports/power.ts';

/**
 * Credentials from a folder, one sub-folder each with a file per key (`username`, `password` …): what a mounted
 * Secret looks like. Read at every use, so that a rotation needs no restart.
 */
export function credentialsFromFolder(folder: string | undefined): DriverDeps['credentials'] {
  return async (name) => {
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
      throw new PowerError(
        'config',
        `bmcCredentials ${JSON.stringify(name)} is not a name: write that of a Secret`,
      );
    if (!folder)
      throw new PowerError('config', `bmcCredentials ${name} cannot be looked up: set BAMEL_CREDENTIALS_DIR`);
    try {
      const files = await readdir(join(folder, name), { withFileTypes: true });
      // Kubernetes keeps its own links there, whose names begin with dots.
      const names = files.filter((file) => !file.isDirectory() && !file.name.startsWith('.'));
      return Object.fromEntries(
        await Promise.all(
          names.map(async (file) => {
            const text = await readFile(join(folder, name, file.name), 'utf8');
            // The end of line that editors add; a blank may belong to a password.
            return [file.name, text.replace(/\r?\n$/, '')] as const;
          }),
        ),
      );
    } catch (cause) {
      throw new PowerError('config', `credentials ${name} cannot be read from ${join(folder, name)}`, {
        cause,
      });
    }
  };
}
