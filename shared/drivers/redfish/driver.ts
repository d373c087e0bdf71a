import type { MachineSpec } from '../../core/machine/machine.ts';
import { httpAddress } from '../../http/address.ts';
import type { HttpPeer } from '../../http/peer.ts';
import type { DriverDefinition, DriverDeps, PowerDriver } from '../../ports/power.ts';
import { pick } from '../common/credentials.ts';
import { failureOf } from '../common/failure.ts';
import { bootFromNetwork } from './boot.ts';
import type { Client } from './client.ts';
import { describe } from './describe.ts';
import { withKnownSystem } from './known-systems.ts';
import { type KnownLogs, readLog } from './log.ts';
import { Options } from './options.ts';
import { reset } from './reset.ts';
import type { System, Whereabouts } from './schema.ts';
import { type KnownChassis, sense } from './sensors.ts';
import { withClient } from './session.ts';
import { findSystem, readingOf, readSystem } from './system.ts';

const uses = ['clock', 'credentials', 'resolve'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

/** Whoever reads the power and then the sensors means one and the same moment. */
const sameMomentMs = 5_000;

/** DMTF Redfish over HTTP(S). Nothing is left behind in the BMC. */
function create(spec: MachineSpec, options: Options, deps: Deps): PowerDriver {
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

  const chassis: KnownChassis = new Map();
  const logs: KnownLogs = {};
  let last: { readonly whereabouts: Whereabouts; readonly at: number } | undefined;
  const read = async (client: Client, path: string): Promise<System> => {
    const system = await readSystem(client, path);
    // No more than is needed: ten thousand of them are kept.
    const { Status, Links, LogServices } = system;
    last = { whereabouts: { Status, Links, LogServices }, at: clock.monotonic() };
    return system;
  };
  /** As it was read just now; else read now. */
  const justRead = (client: Client, path: string): Promise<Whereabouts> | Whereabouts =>
    last && clock.monotonic() - last.at < sameMomentMs ? last.whereabouts : read(client, path);

  return {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
    read: (signal) => withSystem(signal, async (client, path) => readingOf(await read(client, path))),
    set: (verb, signal) => withSystem(signal, (client, path) => reset(client, clock, path, verb)),
    bootFromNetwork: (signal) =>
      withSystem(signal, (client, path) => bootFromNetwork(client, clock, path, bootMode)),
    sense: (signal) =>
      withSystem(signal, async (client, path) => sense(client, await justRead(client, path), chassis)),
    readLog: (after, signal) =>
      withSystem(signal, (client, path) => readLog(client, () => justRead(client, path), logs, after)),
    describe: (signal) => withSystem(signal, describe),
  };
}

export const driver: DriverDefinition<Options, (typeof uses)[number]> = { uses, options: Options, create };
