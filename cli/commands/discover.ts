import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { credentialsFromFolder } from '../../shared/adapters/files/credentials.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import { defaultNetworks, networkGuard } from '../../shared/http/network-guard.ts';
import { type Description, type DriverDeps, PowerError } from '../../shared/ports/power.ts';
import { realClock } from '../../shared/process/clock.ts';
import { readSettings } from '../../shared/process/settings.ts';
import { driverNames } from '../../shared/schema/driver-names.ts';
import { type Command, type Io, UsageError } from '../command.ts';

/** Timeout to read the description of a machine. */
const longestMs = 60_000;

export const discoverCommand: Command = {
  summary: 'read BMCs and print their machines as inventory entries',
  usage: `ADDRESS… [--credentials NAME] [--driver redfish|ipmi] [--pool NAME] [--options JSON] [--as inventory|resource]
      --credentials NAME  a folder in $BAMEL_CREDENTIALS_DIR with username and password
      --driver NAME       default: redfish
      --pool NAME         default: default
      --options JSON      the driver's own options, such as {"tls":{"caFile":"ca.pem"}}
      --as KIND           inventory: for the machines of a config file (default); resource: a BareMetalNode`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        credentials: { type: 'string' },
        driver: { type: 'string', default: 'redfish' },
        pool: { type: 'string', default: 'default' },
        options: { type: 'string' },
        as: { type: 'string', default: 'inventory' },
      },
    });
    if (positionals.length === 0) throw new UsageError('at which address does a BMC answer?');
    if (!['inventory', 'resource'].includes(values.as))
      throw new UsageError(`--as ${values.as} is not known: write inventory or resource`);
    if (!driverNames.some((name) => name === values.driver))
      throw new UsageError(`there is no driver ${values.driver}; there are ${driverNames.join(', ')}`);
    const options = parseOptions(values.options);
    let failed = 0;
    const names = new Set<string>();
    for (const address of positionals)
      try {
        const found = await discover({ ...values, address, options, name: freeName(names, address) }, io);
        names.add(found.name);
        io.stdout.write(values.as === 'resource' ? asResource(found) : stringify([found]));
      } catch (error) {
        if (!(error instanceof PowerError)) throw error;
        io.stderr.write(`${address}: ${error.message}\n`);
        failed += 1;
      }
    return failed === 0 ? 0 : 1;
  },
};

interface Wanted {
  readonly name: string;
  readonly address: string;
  readonly driver: string;
  readonly pool: string;
  readonly credentials?: string | undefined;
  readonly options: Record<string, unknown> | undefined;
}

type Entry = Record<string, unknown> & { readonly name: string };

async function discover(
  { name, address, driver: powerInterface, pool, credentials, options }: Wanted,
  io: Io,
): Promise<Entry> {
  const spec = { name, pool, powerInterface, mgmtAddress: address, bmcCredentials: credentials };
  const driver = await driverFor({ ...spec, options, resources: {} }, depsFrom(io));
  if (!driver.describe)
    throw new PowerError('config', `${powerInterface} machines cannot be described by their BMC`);
  const description = await driver.describe(AbortSignal.timeout(longestMs));
  return without({
    ...spec,
    ...(options && { [powerInterface]: options }),
    ...fieldsOf(description),
  }) as Entry;
}

/** People have to add what no BMC knows: the pool, rack and circuit. */
function fieldsOf({ macAddresses, systemUUID, serial, cpus, memoryBytes, gpus }: Description): object {
  const gib = memoryBytes === undefined ? undefined : Math.floor(memoryBytes / 2 ** 30);
  return {
    macAddress: macAddresses[0]?.toLowerCase(),
    systemUUID,
    serialNumber: serial,
    resources: without({ cpu: cpus ?? 1, memory: `${gib || 1}Gi`, gpu: gpus || undefined }),
  };
}

const asResource = ({ name, ...spec }: Entry): string =>
  `---\n${stringify({ apiVersion: 'bamel.dev/v1alpha1', kind: 'BareMetalNode', metadata: { name }, spec })}`;

const without = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));

/** Two BMCs behind one address, on ports of their own, are two machines. */
export function freeName(taken: ReadonlySet<string>, address: string): string {
  const name = nameOf(address);
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

/** https://tower-1-bmc.lan:8443 → tower-1-bmc; an address of digits becomes m-10-0-0-5. */
export function nameOf(address: string): string {
  const host = URL.parse(address)?.hostname || address.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');
  const isIp = /^[\d.]+$/.test(host) || host.includes(':');
  const text = (isIp ? `m-${host}` : (host.split('.')[0] ?? host)).toLowerCase();
  return text.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

function parseOptions(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    throw new UsageError('--options is not JSON: write an object such as {"tls":{"caFile":"ca.pem"}}');
  }
  throw new UsageError('--options must be an object such as {"tls":{"caFile":"ca.pem"}}');
}

function depsFrom({ env }: Io): DriverDeps {
  const read = readSettings([], env);
  if (!('settings' in read)) throw new UsageError('the environment asks for help');
  const { credentialsDir, allowedNetworks, host } = read.settings;
  const none = async (): Promise<never> => {
    throw new PowerError('config', 'there is no cluster here');
  };
  return {
    credentials: credentialsFromFolder(credentialsDir),
    resolve: networkGuard(allowedNetworks ?? defaultNetworks(host)),
    nodeOf: none,
    jobs: { ensure: none, read: none, latest: none },
    clock: realClock,
  };
}
