import { z } from 'zod';
import type { MachineSpec } from '../../core/machine/machine.ts';
import type { DriverDefinition, DriverDeps, PowerDriver, PowerReading } from '../../ports/power.ts';
import { pick } from '../common/credentials.ts';
import { createWitness, Probe } from '../common/evidence.ts';
import { failureOf } from '../common/failure.ts';
import { Companion, createCompanion } from './companion.ts';
import { routesFor } from './networks.ts';
import { magicPacket, parseSecureOn } from './packet.ts';
import { sendPacket } from './send.ts';

const uses = ['clock', 'credentials', 'jobs', 'nodeOf', 'resolve'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

const WolOptions = z.strictObject({
  broadcast: z
    .ipv4('an IPv4 address, such as 192.168.1.255')
    .optional()
    .describe(
      "where the packet goes: its network's broadcast address, or a relay; when not set, all our networks",
    ),
  port: z.int().min(1).max(65_535).default(9).describe('UDP port'),
  repeat: z.int().min(1).max(20).default(3).describe('how many packets at a time: any one may get lost'),
  interface: z
    .string()
    .regex(/^[\w.:@-]{1,32}$/, 'the name of a network interface, such as eth0')
    .optional()
    .describe('the network interface to send from'),
  off: Companion.optional(),
  probe: Probe.optional(),
});

const betweenPacketsMs = 100;

/**
 * Wake-on-LAN: a packet without a response. Its node shows whether the machine is on; a companion that knows
 * (a smart plug) is asked first.
 */
function create(spec: MachineSpec, options: z.output<typeof WolOptions>, deps: Deps): PowerDriver {
  const fail = failureOf(spec);
  const { macAddress, bmcCredentials } = spec;
  if (!macAddress) throw fail('config', 'powerInterface wol needs macAddress');
  const companion = options.off && createCompanion(spec, options.off, deps);
  const witness = createWitness(spec, options.probe, deps);
  const can = companion?.capabilities;

  const packet = async (): Promise<Buffer> => {
    if (!bmcCredentials) return magicPacket(macAddress);
    const { secureOn } = pick(await deps.credentials(bmcCredentials), bmcCredentials, ['secureOn']);
    const password = parseSecureOn(secureOn);
    if (password) return magicPacket(macAddress, password);
    throw fail('config', `secureOn of ${bmcCredentials} is not six or four hex pairs with colons`);
  };

  const wake = async (signal: AbortSignal): Promise<void> => {
    const routes = routesFor(options);
    if (routes.length === 0)
      throw fail(
        'config',
        `there is no IPv4 network to send from; set wol.broadcast or correct wol.interface`,
      );
    const [magic, targets] = [
      await packet(),
      await Promise.all(routes.map(async (route) => ({ ...route, to: await deps.resolve(route.to) }))),
    ];
    for (let sent = 0; sent < options.repeat; sent += 1) {
      if (sent > 0) await deps.clock.sleep(betweenPacketsMs, signal);
      for (const target of targets) {
        if (signal.aborted) throw fail('timeout', 'the magic packets were not sent in time');
        await sendPacket(magic, target, options.port).catch((error: NodeJS.ErrnoException) => {
          throw fail('unreachable', `no magic packet can be sent to ${target.to} (${error.code})`);
        });
      }
    }
  };

  const read = async (signal: AbortSignal): Promise<PowerReading> => {
    if (!companion || !can?.status) return witness(signal);
    const plug = await companion.read(signal);
    if (plug.power === 'unknown') return plug;
    const node = await witness(signal);
    if (plug.power === 'on') return node;
    // No current, and a heartbeat since: that is another machine's plug, or it was cut a moment ago.
    return node.power === 'on' ? { power: 'unknown' } : plug;
  };

  return {
    capabilities: {
      status: can?.status ?? false,
      softOff: can?.softOff ?? false,
      hardOff: can?.hardOff ?? false,
      bootFromNetwork: false,
      sensors: false,
    },
    read,
    async set(verb, signal, operation) {
      if (verb !== 'on') {
        if (companion) return companion.set(verb, signal, operation);
        throw fail(
          'config',
          'a packet wakes it, but nothing powers it off: set wol.off to http, snmp-pdu or job',
        );
      }
      if (companion?.switchesOn) await companion.set('on', signal, operation);
      await wake(signal);
    },
  };
}

export const driver: DriverDefinition<z.output<typeof WolOptions>, (typeof uses)[number]> = {
  uses,
  options: WolOptions,
  create,
};
