import { z } from 'zod';

// What is not needed to power a machine must not keep it from being powered: a field that is not as Redfish has it
// counts as absent.
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const text = optional(z.string());
const number = optional(z.number());

const Link = z.object({ '@odata.id': z.string() });
const Links = z.object({ Members: z.array(Link) });
const link = optional(Link);

const Status = optional(z.object({ State: text, Health: text, HealthRollup: text }));
export type Status = z.output<typeof Status>;

export const Root = z.object({
  Systems: Link,
  Chassis: link,
  SessionService: link,
  Links: optional(z.object({ Sessions: link })),
});

export const Collection = Links;

const Reset = z.object({
  target: z.string(),
  '@Redfish.ActionInfo': text,
  'ResetType@Redfish.AllowableValues': optional(z.array(z.string())),
});

const Boot = z.looseObject({
  BootSourceOverrideTarget: text,
  BootSourceOverrideEnabled: text,
  BootSourceOverrideMode: text,
  'BootSourceOverrideTarget@Redfish.AllowableValues': optional(z.array(z.string())),
});
export type Boot = z.output<typeof Boot>;

/** A resource with a boot override: a system, or its settings resource. */
export const Bootable = z.object({ Boot: Boot.nullish(), '@odata.etag': text });

export const System = z.object({
  UUID: z.string().nullish(),
  SerialNumber: text,
  PowerState: z.string().nullish(),
  Manufacturer: text,
  Model: text,
  BootProgress: optional(z.object({ LastState: text })),
  '@Redfish.Settings': optional(z.object({ SettingsObject: Link })),
  Status,
  ProcessorSummary: optional(z.object({ LogicalProcessorCount: number })),
  MemorySummary: optional(z.object({ TotalSystemMemoryGiB: number })),
  Processors: link,
  EthernetInterfaces: link,
  LogServices: link,
  Links: optional(z.object({ Chassis: optional(z.array(Link)), ManagedBy: optional(z.array(Link)) })),
  Actions: z.object({ '#ComputerSystem.Reset': Reset.optional() }).nullish(),
});
export type System = z.output<typeof System>;

/** A status, and links to details. */
export type Whereabouts = Pick<System, 'Status' | 'Links' | 'LogServices'>;

export const ActionInfo = z.object({
  Parameters: z.array(z.object({ Name: text, AllowableValues: optional(z.array(z.string())) })),
});

export const Task = z.object({ TaskState: text, TaskStatus: text });

/** Ids only: the text beside them may repeat what was sent. */
export const Refusal = z.object({
  error: z.object({
    '@Message.ExtendedInfo': z
      .array(
        z.object({
          MessageId: z
            .string()
            .max(100)
            .regex(/^\w+(\.\w+)+$/),
        }),
      )
      .min(1),
  }),
});

export const Processor = z.object({ ProcessorType: text, TotalThreads: number });
export const EthernetInterface = z.object({ MACAddress: text, PermanentMACAddress: text });

export const Part = z.object({ Name: text, MemberId: text, FanName: text, Status });
export type Part = z.output<typeof Part>;
const Parts = optional(z.array(Part));

export const Chassis = z.object({
  Power: link,
  Thermal: link,
  PowerSubsystem: link,
  ThermalSubsystem: link,
  EnvironmentMetrics: link,
});
export type Chassis = z.output<typeof Chassis>;
export const Power = z.object({
  PowerControl: optional(z.array(z.object({ PowerConsumedWatts: number }))),
  PowerSupplies: Parts,
});
export const Thermal = z.object({
  Temperatures: optional(
    z.array(z.object({ Name: text, ReadingCelsius: number, UpperThresholdCritical: number, Status })),
  ),
  Fans: Parts,
});
const Reading = optional(z.object({ Reading: number }));
export const EnvironmentMetrics = z.object({ PowerWatts: Reading, TemperatureCelsius: Reading });
export const PowerSubsystem = z.object({ PowerSupplies: link });
export const ThermalSubsystem = z.object({ Fans: link, ThermalMetrics: link });
export const ThermalMetrics = z.object({
  TemperatureReadingsCelsius: optional(z.array(z.object({ Reading: number, DeviceName: text }))),
});

export const Manager = z.object({ LogServices: link });
export const LogService = z.object({ Id: text, LogEntryType: text, Entries: link });
export type LogService = z.output<typeof LogService>;
export const LogEntry = z.object({
  '@odata.id': text,
  Id: text,
  Created: text,
  Severity: text,
  Message: text,
  /** Of a SEL: whether it began or ended, and what measured it. */
  EntryCode: text,
  SensorType: text,
  SensorNumber: number,
  Resolved: optional(z.boolean()),
});
export type LogEntry = z.output<typeof LogEntry>;
export const LogEntries = z.object({ Members: z.array(LogEntry), 'Members@odata.nextLink': text });
export type LogEntries = z.output<typeof LogEntries>;
