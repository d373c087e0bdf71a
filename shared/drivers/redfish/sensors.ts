import type { z } from 'zod';
import { PowerError, type Sensors } from '../../ports/power.ts';
import type { Client } from './client.ts';
import {
  Chassis,
  EnvironmentMetrics,
  Part,
  Power,
  PowerSubsystem,
  Root,
  type Status,
  Thermal,
  ThermalMetrics,
  ThermalSubsystem,
  type Whereabouts,
} from './schema.ts';

type Health = Sensors['health'];
const healths: Readonly<Record<string, Health>> = { OK: 'ok', Warning: 'warning', Critical: 'critical' };
const order: readonly Health[] = ['unknown', 'ok', 'warning', 'critical'];
const worst = (values: readonly Health[]): Health =>
  values.reduce((one, other) => (order.indexOf(other) > order.indexOf(one) ? other : one), 'unknown');
const healthOf = (status: Status): Health =>
  healths[status?.HealthRollup ?? status?.Health ?? ''] ?? 'unknown';

/** Limit of power supplies and fans that are read one by one. */
const mostParts = 16;

interface Found {
  watts: number | undefined;
  readonly temperatures: {
    readonly name: string;
    readonly celsius: number;
    readonly critical?: number | undefined;
  }[];
  readonly parts: Part[];
}

/** Where the sensors of a machine are, by the path of its chassis: asked for once. */
export type KnownChassis = Map<string, Chassis>;

/** Power draw, temperature and problems. Missing values are omitted. */
export async function sense(client: Client, system: Whereabouts, known: KnownChassis): Promise<Sensors> {
  const found: Found = { watts: undefined, temperatures: [], parts: [] };
  for (const chassis of await chassisOf(client, system.Links?.Chassis))
    await look(client, chassis, found, known);
  const hot = found.temperatures.filter(({ celsius, critical }) => critical && celsius >= critical);
  const sick = found.parts.filter(
    ({ Status: status }) => order.indexOf(healthOf(status)) > order.indexOf('ok'),
  );
  const celsius = found.temperatures.map((one) => one.celsius);
  return {
    watts: found.watts,
    celsius: celsius.length > 0 ? Math.max(...celsius) : undefined,
    health: worst([
      healthOf(system.Status),
      ...sick.map(({ Status: status }) => healthOf(status)),
      ...hot.map((): Health => 'critical'),
    ]),
    problems: [
      ...hot.map((one) => `${one.name} is at ${one.celsius} °C, critical from ${one.critical}`),
      ...sick.map(
        (part) =>
          `${nameOf(part)} ${healthOf(part.Status) === 'critical' ? 'failed' : 'is not well (Warning)'}`,
      ),
    ],
  };
}

const nameOf = ({ Name, FanName, MemberId }: Part): string => Name ?? FanName ?? `part ${MemberId ?? '?'}`;

type LinkTo = { readonly '@odata.id': string } | null | undefined;

async function chassisOf(client: Client, linked: readonly NonNullable<LinkTo>[] | null | undefined) {
  if (linked && linked.length > 0) return linked.map((one) => one['@odata.id']);
  const { Chassis: all } = await client.get(Root, '/redfish/v1/', 'service root');
  return all ? client.members(all['@odata.id'], 'list of chassis') : [];
}

/** Into `found`: the older Power and Thermal where they are there, else the newer resources. */
async function look(client: Client, path: string, found: Found, known: KnownChassis): Promise<void> {
  const chassis = known.get(path) ?? (await client.get(Chassis, path, 'chassis'));
  known.set(path, chassis);
  const get = follower(client);
  const power = await get(Power, chassis.Power, 'power');
  found.watts ??= power?.PowerControl?.[0]?.PowerConsumedWatts ?? undefined;
  found.parts.push(...(power?.PowerSupplies ?? []));
  const thermal = await get(Thermal, chassis.Thermal, 'thermal');
  found.parts.push(...(thermal?.Fans ?? []));
  // A firmware update may have moved them.
  if ((chassis.Power && !power) || (chassis.Thermal && !thermal)) known.delete(path);
  for (const { Name, ReadingCelsius, UpperThresholdCritical } of thermal?.Temperatures ?? [])
    if (typeof ReadingCelsius === 'number')
      found.temperatures.push({
        name: Name ?? 'a sensor',
        celsius: ReadingCelsius,
        critical: UpperThresholdCritical ?? undefined,
      });

  if (found.watts === undefined || !thermal) {
    const metrics = await get(EnvironmentMetrics, chassis.EnvironmentMetrics, 'environment metrics');
    found.watts ??= metrics?.PowerWatts?.Reading ?? undefined;
    const celsius = metrics?.TemperatureCelsius?.Reading;
    if (typeof celsius === 'number') found.temperatures.push({ name: 'Chassis', celsius });
  }
  if (!power) found.parts.push(...(await powerSupplies(client, get, chassis.PowerSubsystem)));
  if (!thermal) await lookAtThermalSubsystem(client, get, chassis.ThermalSubsystem, found);
}

type Get = <Value>(schema: z.ZodType<Value>, link: LinkTo, what: string) => Promise<Value | undefined>;

/** Sensors come and go with firmware: one that cannot be read is as if it were not there. */
const follower =
  (client: Client): Get =>
  async (schema, link, what) => {
    if (!link) return undefined;
    try {
      return await client.get(schema, link['@odata.id'], what);
    } catch (error) {
      if (error instanceof PowerError && error.code === 'refused') return undefined;
      throw error;
    }
  };

async function partsOf(client: Client, get: Get, link: LinkTo, what: string): Promise<Part[]> {
  if (!link) return [];
  const members = await client.members(link['@odata.id'], what);
  const parts: Part[] = [];
  for (const member of members.slice(0, mostParts)) {
    const part = await get(Part, { '@odata.id': member }, what);
    if (part) parts.push(part);
  }
  return parts;
}

async function powerSupplies(client: Client, get: Get, link: LinkTo): Promise<Part[]> {
  const subsystem = await get(PowerSubsystem, link, 'power subsystem');
  return partsOf(client, get, subsystem?.PowerSupplies, 'power supplies');
}

async function lookAtThermalSubsystem(client: Client, get: Get, link: LinkTo, found: Found): Promise<void> {
  const subsystem = await get(ThermalSubsystem, link, 'thermal subsystem');
  found.parts.push(...(await partsOf(client, get, subsystem?.Fans, 'fans')));
  const metrics = await get(ThermalMetrics, subsystem?.ThermalMetrics, 'thermal metrics');
  for (const { Reading, DeviceName } of metrics?.TemperatureReadingsCelsius ?? [])
    if (typeof Reading === 'number')
      found.temperatures.push({ name: DeviceName ?? 'a sensor', celsius: Reading });
}
