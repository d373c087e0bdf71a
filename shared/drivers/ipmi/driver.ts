import type { MachineSpec } from '../../core/machine/machine.ts';
import type { DriverDefinition, DriverDeps, PowerDriver } from '../../ports/power.ts';
import { failureOf } from '../common/failure.ts';
import { parseAddress } from './address.ts';
import { createIpmitool } from './ipmitool.ts';
import { readSecrets } from './login.ts';
import { createNative } from './native.ts';
import { Options } from './options.ts';

const uses = ['credentials', 'resolve'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

/** IPMI 2.0 over LAN (RMCP+). */
function create(spec: MachineSpec, options: Options, deps: Deps): PowerDriver {
  const fail = failureOf(spec);
  const address = parseAddress(spec.mgmtAddress ?? '', options.port);
  if (!address)
    throw fail(
      'config',
      'powerInterface ipmi needs mgmtAddress as a host, host:port or ipmi://host:port, such as 10.0.0.5',
    );
  const name = spec.bmcCredentials;
  if (!name) throw fail('config', 'powerInterface ipmi needs bmcCredentials with username and password');
  const make = options.tool === 'native' ? createNative : createIpmitool;
  const secrets = () => readSecrets(name, deps, fail);
  return make({ spec, address, options, resolve: deps.resolve, secrets, fail });
}

export const driver: DriverDefinition<Options, (typeof uses)[number]> = { uses, options: Options, create };
