import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { type DriverDeps, PowerError } from '../ports/power.ts';

/** The default networks of BMCs. */
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
const loopback = ['127.0.0.0/8', '::1/128'];

/** Never, whatever is allowed: no BMC is there, but what hands out passwords may be. */
const never: Readonly<Record<string, string>> = {
  '0.0.0.0/8': 'no address of a host',
  '169.254.0.0/16': 'link-local, where cloud metadata is',
  '100.100.100.200/32': 'cloud metadata',
  '168.63.129.16/32': 'cloud metadata',
  '192.0.0.192/32': 'cloud metadata',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved',
  '::/128': 'no address of a host',
  'fe80::/10': 'link-local',
  'fd00:ec2::254/128': 'cloud metadata',
  'fd20:ce::254/128': 'cloud metadata',
  'ff00::/8': 'multicast',
  // IPv4 addresses in IPv6 form: they must be written as IPv4.
  '::ffff:0:0/96': 'an IPv4 address written as IPv6',
  '64:ff9b::/96': 'an IPv4 address written as IPv6',
  '64:ff9b:1::/48': 'an IPv4 address written as IPv6',
  '2001::/32': 'an IPv4 address written as IPv6',
  '2002::/16': 'an IPv4 address written as IPv6',
};

/** Loopback is for who tries things out: as long as the process itself is not to be reached from elsewhere. */
export const defaultNetworks = (listensOn: string): readonly string[] =>
  ['127.0.0.1', '::1', 'localhost'].includes(listensOn) ? [...privateNetworks, ...loopback] : privateNetworks;

type Lookup = (host: string) => Promise<readonly string[]>;

const systemLookup: Lookup = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Which address to connect to for a host of the inventory: one inside the allowed networks, checked after it was
 * looked up. Who connects takes exactly this address, so that a name server that answers otherwise the next time
 * changes nothing.
 */
export function networkGuard(allowed: readonly string[], look: Lookup = systemLookup): DriverDeps['resolve'] {
  const inside = allowed.map(containing);
  const outside = Object.entries(never).map(([network, what]) => ({ contains: containing(network), what }));

  const objection = (address: string): string | undefined => {
    const forbidden = outside.find(({ contains }) => contains(address));
    if (forbidden) return `${address} is ${forbidden.what}: nothing is ever sent there`;
    if (inside.some((contains) => contains(address))) return undefined;
    return `${address} is outside of the allowed networks (${allowed.join(', ')}). If a BMC is there, add its network to BAMEL_ALLOWED_NETWORKS`;
  };

  return async (host) => {
    const addresses = await addressesOf(host, look);
    const chosen = addresses.find((address) => objection(address) === undefined);
    if (chosen !== undefined) return chosen;
    const [first] = addresses;
    const why = first === undefined ? 'it has no address' : objection(first);
    throw new PowerError('config', `${host} is not talked to: ${why}`);
  };
}

/** A number, or parts that end in one (also 0x7f.1): name servers and C libraries take these for IPv4 addresses. */
const numeric = /(^|\.)(\d+|0x[0-9a-f]*)\.?$/i;

async function addressesOf(host: string, look: Lookup): Promise<readonly string[]> {
  if (isIP(host)) {
    // fe80::1%eth0: a zone is for link-local addresses.
    if (host.includes('%')) throw new PowerError('config', `${host} has a zone: write it without`);
    return [host];
  }
  if (numeric.test(host))
    throw new PowerError(
      'config',
      `${host} is neither a name nor an address: write all four numbers, in decimal`,
    );
  try {
    return await look(host);
  } catch (error) {
    throw new PowerError(
      'unreachable',
      `${host} cannot be looked up (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    );
  }
}

/** Whether an address is in a network. Only of its own family: Node.js would take any IPv4 address for ::ffff:0:0/96. */
function containing(network: string): (address: string) => boolean {
  const [base = '', bits] = network.split('/');
  const version = isIP(base);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family);
  return (address) => isIP(address) === version && list.check(address, family);
}
