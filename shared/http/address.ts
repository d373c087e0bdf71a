import type { Fail } from './failure.ts';

/** The host of a URL without the brackets of IPv6, for lookups and sockets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** mgmtAddress as a URL for drivers that speak HTTP. */
export function httpAddress(mgmtAddress: string | undefined, driver: string, fail: Fail): URL {
  const address = URL.parse(mgmtAddress ?? '');
  if (!address || !/^https?:$/.test(address.protocol))
    throw fail('config', `powerInterface ${driver} needs mgmtAddress, such as https://10.0.0.5`);
  // The address is kept in the store and shown in messages.
  if (address.username || address.password)
    throw fail('config', 'mgmtAddress has a user or password in it: use bmcCredentials for them');
  return address;
}

/** The header for a user and a password. */
export const basicAuth = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
