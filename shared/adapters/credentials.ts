import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DriverDeps, PowerError } from '../ports.ts';

/**
 * Credentials from a folder, one sub-folder each with the files `username` and `password`: what a mounted
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
    const read = async (file: string): Promise<string> => {
      try {
        // The end of line that editors add; a blank may belong to a password.
        return (await readFile(join(folder, name, file), 'utf8')).replace(/\r?\n$/, '');
      } catch (cause) {
        throw new PowerError(
          'config',
          `credentials ${name} have no readable file ${file} in ${join(folder, name)}`,
          {
            cause,
          },
        );
      }
    };
    return { username: await read('username'), password: await read('password') };
  };
}
