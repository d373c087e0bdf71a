import type { MachineSpec } from '../core/machine.ts';
import { type DriverDeps, type DriverFactory, type PowerDriver, PowerError } from '../ports.ts';
import { redfish } from './redfish.ts';

/** Every way to power a machine, by the name users write as powerInterface. */
export const drivers: Readonly<Record<string, DriverFactory>> = {
  redfish,
};

export function driverFor(spec: MachineSpec, deps: DriverDeps): PowerDriver {
  const factory = Object.hasOwn(drivers, spec.powerInterface) ? drivers[spec.powerInterface] : undefined;
  if (factory) return factory(spec, deps);
  throw new PowerError(
    'config',
    `${spec.name}: no power driver is called ${spec.powerInterface}; there are ${Object.keys(drivers).join(', ')}`,
  );
}
