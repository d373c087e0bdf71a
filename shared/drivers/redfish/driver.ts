import type { MachineSpec } from '../../core/machine.ts';
import type { DriverDefinition, DriverDeps, PowerDriver } from '../../ports.ts';
import { pick } from '../common/credentials.ts';
import { failureOf } from '../common/failure.ts';
import { type HttpPeer, httpAddress } from '../common/http.ts';
import { bootFromNetwork } from './boot.ts';
import type { Client } from './client.ts';
import { describe } from './describe.ts';
import { withKnownSystem } from './known-systems.ts';
import { Options } from './options.ts';
import { reset } from './reset.ts';
import { sense } from './sensors.ts';
import { withClient } from './session.ts';
import { findSystem, readingOf, readSystem } from './system.ts';

/** DMTF Redfish over HTTP(S). Nothing is left behind in the BMC. */
function create(spec: MachineSpec, options: Options, deps: DriverDeps): PowerDriver {
  const { clock, resolve } = deps;
  const { auth, tls, bootMode } = options;
  const fail = failureOf(spec);
  const address = httpAddress(spec.mgmtAddress, 'redfish', fail);
  const peer: HttpPeer = { who: 'its BMC', section: 'redfish', address, tls, resolve, fail };
  const { bmcCredentials: name } = spec;
  if (auth === 'session' && name === undefined)
    throw fail('config', 'redfish.auth session needs bmcCredentials');

  const withSystem = async <Value>(
    signal: AbortSignal,
    work: (client: Client, path: string) => Promise<Value>,
  ): Promise<Value> => {
    const login = name && { name, ...pick(await deps.credentials(name), name, ['username', 'password']) };
    return withClient(peer, auth, login || undefined, signal, (client) =>
      options.system
        ? work(client, options.system)
        : withKnownSystem(
            deps,
            address.origin,
            () => findSystem(client),
            (path) => work(client, path),
          ),
    );
  };

  return {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
    read: (signal) => withSystem(signal, async (client, path) => readingOf(await readSystem(client, path))),
    set: (verb, signal) => withSystem(signal, (client, path) => reset(client, clock, path, verb)),
    bootFromNetwork: (signal) =>
      withSystem(signal, (client, path) => bootFromNetwork(client, clock, path, bootMode)),
    sense: (signal) => withSystem(signal, sense),
    describe: (signal) => withSystem(signal, describe),
  };
}

export const driver: DriverDefinition<Options> = { options: Options, create };
