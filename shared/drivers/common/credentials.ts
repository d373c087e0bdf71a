import { type Credentials, PowerError } from '../../ports/power.ts';

/** What the driver needs of it, or an error that says which key is missing. */
export function pick<Key extends string>(
  credentials: Credentials,
  name: string,
  keys: readonly Key[],
): Record<Key, string> {
  for (const key of keys)
    if (credentials[key] === undefined)
      throw new PowerError('config', `credentials ${name} have no ${key}: add it to the Secret or folder`);
  return credentials as Record<Key, string>;
}
