import type { MachineSpec, Power } from '../../core/machine/machine.ts';
import type { DriverDefinition, DriverDeps } from '../../ports/power.ts';
import type { CompanionDriver } from '../common/companion.ts';
import { inTime } from '../common/evidence.ts';
import { failureOf } from '../common/failure.ts';
import { PduOptions } from './options.ts';
import { type Outlet, presets } from './presets.ts';
import { ask, integerType } from './session.ts';

const uses = ['credentials', 'resolve', 'nodeOf'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

export { PduOptions };

/** An outlet of a switched PDU. It knows nothing of the machine behind it: off is a power cut, always. */
export function createPdu(
  spec: MachineSpec,
  options: PduOptions,
  deps: Deps,
  section = 'snmp-pdu',
): CompanionDriver {
  const fail = failureOf(spec);
  const { host, port } = addressOf(spec, options, section);
  const secretName = options.credentials ?? spec.bmcCredentials;
  if (!secretName)
    throw fail(
      'config',
      `${section} needs credentials: a Secret with community, or for version 3 with username`,
    );
  const outlet = outletOf(options);
  const index =
    outlet.within && !options.outlet.includes('.') ? `${outlet.within}.${options.outlet}` : options.outlet;
  const at = ({ oid }: { readonly oid: string }) => oid.replace('{outlet}', index);

  const exchange = async (oid: string, signal: AbortSignal, value?: number) => {
    const credentials = await inTime(deps.credentials(secretName), signal, fail);
    const address = await inTime(deps.resolve(host), signal, fail);
    return ask({ address, port, options, credentials, secretName, fail }, oid, signal, value);
  };

  return {
    capabilities: { status: true, softOff: false, hardOff: true, bootFromNetwork: false, sensors: false },
    switchesOn: true,
    async read(signal) {
      const { type, value } = await exchange(at(outlet.status), signal);
      if (type !== integerType || typeof value !== 'number')
        throw fail('refused', `what its PDU has at ${at(outlet.status)} is no outlet. Correct ${section}`);
      const power: Power = outlet.status.on.includes(value)
        ? 'on'
        : outlet.status.off.includes(value)
          ? 'off'
          : 'unknown';
      return { power };
    },
    async set(verb, signal) {
      if (verb === 'soft-off')
        throw fail('config', `${section} can only cut the power: a PDU cannot shut a system down`);
      const command = verb === 'on' ? outlet.on : outlet.off;
      await exchange(at(command), signal, command.value);
    },
  };
}

/** The schema sees to it that there is one of the two. */
const outletOf = ({ preset, custom }: PduOptions): Outlet => (preset ? presets[preset] : (custom as Outlet));

function addressOf(
  spec: MachineSpec,
  { address }: PduOptions,
  section: string,
): { host: string; port: number } {
  const text = address ?? spec.mgmtAddress ?? '';
  const url = URL.parse(text.includes('://') ? text : `snmp://${text}`);
  const plain =
    url && url.protocol === 'snmp:' && !url.username && !url.password && /^\/?$/.test(url.pathname);
  // Bare names and numbers only: whatever else it may be, it is no host.
  if (
    !plain ||
    !/^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/i.test(url.hostname) ||
    url.search ||
    url.hash
  )
    throw failureOf(spec)(
      'config',
      `${section} needs the PDU's address: set mgmtAddress or ${section}.address to host or host:port`,
    );
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || 161 };
}

export const driver: DriverDefinition<PduOptions, (typeof uses)[number]> = {
  uses,
  options: PduOptions,
  create: createPdu,
};
