import { z } from 'zod';
import { fromQuantities } from '../core/cluster/resources.ts';
import type { MachineSpec as Spec } from '../core/machine/machine.ts';
import { type DriverName, driverNames } from './driver-names.ts';
import { Name } from './name.ts';
import { Quantity, Taint } from './quantity.ts';

const Resources = z
  .strictObject({
    cpu: Quantity.describe('cores'),
    memory: Quantity.describe('memory'),
    gpu: z.int().nonnegative().optional().describe('counts as nvidia.com/gpu; others under customResources'),
    storage: Quantity.optional().describe('ephemeral storage'),
    pods: z.int().positive().optional().describe('how many pods; 110 are assumed'),
    customResources: z
      .record(z.string(), Quantity)
      .optional()
      .describe('any other resource by its full name, such as amd.com/gpu: 2'),
  })
  .describe(
    'what pods can ask for once the machine is on; a little less than its hardware, as the kubelet keeps some',
  );

/** A section for every driver. What stands in it is for the driver to check. */
const sections = Object.fromEntries(
  driverNames.map((name) => [
    name,
    z.record(z.string(), z.unknown()).optional().describe(`the options of the driver ${name}`),
  ]),
) as Record<DriverName, z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>>>;

const without = <Value extends object, Key extends keyof Value>(value: Value, keys: readonly Key[]) =>
  Object.fromEntries(
    Object.entries(value).filter(([key]) => !(keys as readonly string[]).includes(key)),
  ) as Omit<Value, Key>;

/** A machine as people write it. Each driver's options stand under the driver's name and are checked by it. */
export const MachineSpec = z
  .strictObject({
    name: Name.describe('its id everywhere, and the name of its node unless something better finds it'),
    pool: Name.describe('the pool it is scaled with'),
    powerInterface: z
      .string()
      .min(1)
      .describe(`the driver: ${driverNames.join(', ')}`),
    mgmtAddress: z
      .string()
      .min(1)
      .optional()
      .describe(
        'where its BMC answers, such as https://10.0.0.5; what forms are understood is up to the driver',
      ),
    macAddress: z
      .string()
      .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i, 'six hex pairs with colons')
      .optional()
      .describe('finds its node, where that shows it as annotation or label bamel.dev/mac-address; wakes it'),
    bmcCredentials: z
      .string()
      .min(1)
      .optional()
      .describe('a Secret, or a name in the credentials folder; never the password itself'),
    ...sections,
    bootProfile: z
      .string()
      .min(1)
      .optional()
      .describe('what it boots from the network when it is powered on'),
    rack: z.string().optional().describe('where it stands; power-ons can be limited per rack'),
    rackUnit: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('the lowest unit that it takes in its rack, counted from the bottom'),
    rackHeight: z.int().min(1).max(50).optional().describe('how many units it takes; 1 unless given'),
    zone: z.string().optional().describe('the failure domain it is in'),
    powerCircuit: z
      .string()
      .optional()
      .describe('the circuit that feeds it; power-ons can be limited per circuit'),
    resources: Resources,
    watts: z
      .strictObject({
        idle: z.number().nonnegative().describe('what it draws when nothing runs on it'),
        max: z.number().positive().describe('what it draws at most'),
      })
      .refine(({ idle, max }) => idle <= max, { path: ['idle'], message: 'must not exceed max' })
      .optional()
      .describe('what it draws; the more frugal one is chosen where two would do'),
    pricing: z
      .strictObject({
        hourlyRate: z.number().nonnegative().optional().describe('of an hour of it'),
        podRate: z.number().nonnegative().optional().describe('of an hour of a pod on it'),
      })
      .optional()
      .describe('what it costs, in whatever money you count in'),
    labels: z
      .record(z.string(), z.string())
      .optional()
      .describe('set on its node when it joins, and counted on when pods are fitted'),
    taints: z
      .array(Taint)
      .optional()
      .describe('set on its node when it joins, and counted on when pods are fitted'),
    powerState: z
      .enum(['on', 'off'])
      .optional()
      .describe('by hand: on is powered on and never drained, off is drained, powered off and never chosen'),
    maintenance: z.boolean().optional().describe('in the hands of a person; never touched'),
    memoryOverhead: Quantity.optional().describe(
      'for a machine made on demand: it is made larger by that than pods can use',
    ),
    made: z.boolean().optional().describe('made on demand by its pool; set by the autoscaler only'),
    offer: z
      .string()
      .optional()
      .describe('the offer that a slice of a remote cluster was taken from; set by the autoscaler only'),
    inventoryId: z.string().optional().describe('its id in another inventory, kept with it'),
    systemUUID: z
      .string()
      .optional()
      .describe('of its SMBIOS: finds its node, and a BMC that shows another one is not commanded'),
    serialNumber: z
      .string()
      .optional()
      .describe('as its BMC reports it: a BMC that reports another one gets no command'),
    providerID: z
      .string()
      .optional()
      .describe('finds its node, and is set on it where it has none; bamel://NAME unless given'),
  })
  .transform(({ resources, memoryOverhead, inventoryId: _, ...given }): Spec => {
    const options = given[given.powerInterface as DriverName];
    const spec = without(given, driverNames);
    const { gpu, storage, customResources, ...rest } = resources;
    return {
      ...spec,
      options,
      memoryOverhead: fromQuantities({ memory: memoryOverhead }).memory,
      resources: fromQuantities({
        ...rest,
        'ephemeral-storage': storage,
        'nvidia.com/gpu': gpu,
        ...customResources,
      }),
    };
  });

/** As people write it, and as it stands in the store. */
export type MachineInput = z.input<typeof MachineSpec>;
