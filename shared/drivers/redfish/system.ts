import type { Power } from '../../core/machine/machine.ts';
import type { PowerReading } from '../../ports/power.ts';
import type { Client } from './client.ts';
import { Root, System } from './schema.ts';

/** Anything else (PoweringOn, Paused, missing …) is unknown. */
const powerStates: ReadonlyMap<unknown, Power> = new Map([
  ['On', 'on'],
  ['Off', 'off'],
]);

export const readingOf = (system: System): PowerReading => ({
  power: powerStates.get(system.PowerState) ?? 'unknown',
  systemUUID: system.UUID ?? undefined,
  serial: system.SerialNumber || undefined,
  bootProgress: system.BootProgress?.LastState ?? undefined,
});

/** The one system, or the error that says which there are. */
export async function findSystem(client: Client): Promise<string> {
  const { fail, who } = client.peer;
  const { Systems } = await client.get(Root, '/redfish/v1/', 'service root');
  const [only, ...more] = await client.members(Systems['@odata.id'], 'list of systems');
  if (only === undefined) throw fail('refused', `${who} lists no system`);
  if (more.length === 0) return only;
  const all = [only, ...more];
  throw fail(
    'config',
    `${who} manages ${all.length} systems: set redfish.system to one of ${all.join(', ')}`,
  );
}

export const readSystem = (client: Client, path: string): Promise<System> =>
  client.get(System, path, 'system');
