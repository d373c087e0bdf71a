import { z } from 'zod';
import type { MachineSpec } from '../core/machine/machine.ts';
import type { Provider } from '../core/settings.ts';
import { type DriverDefinition, type DriverDeps, type PowerDriver, PowerError } from '../ports/power.ts';
import { type DriverName, driverNames } from '../schema/driver-names.ts';

/** The drivers of schema/driver-names.ts, each loaded when first used. */
const table = {
  redfish: async () => (await import('./redfish/driver.ts')).driver,
  proxmox: async () => (await import('./proxmox/driver.ts')).driver,
  ipmi: async () => (await import('./ipmi/driver.ts')).driver,
  wol: async () => (await import('./wol/driver.ts')).driver,
  http: async () => (await import('./http/driver.ts')).driver,
  'snmp-pdu': async () => (await import('./snmp-pdu/driver.ts')).driver,
  job: async () => (await import('./job/driver.ts')).driver,
  liqo: async () => (await import('./liqo/driver.ts')).driver,
} satisfies Record<DriverName, () => Promise<unknown>>;

const isDriverName = (name: string): name is DriverName => Object.hasOwn(table, name);

/** Each row has its own options type; lookups erase it. */
export const loadDriver = async (name: DriverName): Promise<DriverDefinition> =>
  (await table[name]()) as DriverDefinition;

/** Only what the driver says that it uses. */
const handed = ({ uses }: DriverDefinition, deps: DriverDeps): DriverDeps =>
  Object.fromEntries(uses.map((name) => [name, deps[name]])) as unknown as DriverDeps;

/** The driver of a machine. A mistake in its part of the inventory is a PowerError that names it. */
export async function driverFor(spec: MachineSpec, deps: DriverDeps): Promise<PowerDriver> {
  const { name, powerInterface } = spec;
  if (!isDriverName(powerInterface))
    throw new PowerError(
      'config',
      `${name}: no power driver is called ${powerInterface}; there are ${driverNames.join(', ')}`,
    );
  const driver = await loadDriver(powerInterface);
  const options = driver.options.safeParse(spec.options ?? {});
  if (options.success) return driver.create(spec, options.data, handed(driver, deps));
  throw new PowerError(
    'config',
    `${name}: its ${powerInterface} options are wrong: ${z.prettifyError(options.error)}`,
  );
}

/** Strays of a pool whose machines are made on demand; undefined where its driver knows of none. */
export async function releaseOrphans(
  pool: string,
  { name, options, mgmtAddress, bmcCredentials }: Provider,
  isKnown: (machine: string) => boolean,
  deps: DriverDeps,
  signal: AbortSignal,
): Promise<Orphans | undefined> {
  if (!isDriverName(name)) return undefined;
  const driver = await loadDriver(name);
  const parsed = driver.options.safeParse(options ?? {});
  if (!parsed.success)
    throw new PowerError(
      'config',
      `pool ${pool}: its ${name} options are wrong: ${z.prettifyError(parsed.error)}`,
    );
  const spec = {
    name: pool,
    pool,
    powerInterface: name,
    mgmtAddress,
    bmcCredentials,
    options,
    resources: {},
  };
  return driver.releaseOrphans?.(spec, parsed.data, isKnown, handed(driver, deps), signal);
}

/** The returned orphans, and those that may run something and were kept. */
export type Orphans = Awaited<ReturnType<NonNullable<DriverDefinition['releaseOrphans']>>>;
