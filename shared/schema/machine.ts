import { z } from 'zod';
import type { MachineSpec as Spec } from '../core/machine.ts';
import { fromQuantities, parseQuantity } from '../core/resources.ts';
import { Name } from './name.ts';

const noQuantity = 'must be a Kubernetes quantity such as 8, 500m or 32Gi';

const Quantity = z
  .union([z.number(), z.string()], { error: noQuantity })
  .refine((value) => (parseQuantity(value) ?? -1) >= 0, noQuantity);

const Taint = z.strictObject({
  key: z.string().min(1),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});

const Resources = z.strictObject({
  cpu: Quantity,
  memory: Quantity,
  gpu: z.int().nonnegative().optional().describe('counts as nvidia.com/gpu; others under customResources'),
  storage: Quantity.optional(),
  pods: z.int().positive().optional(),
  customResources: z.record(z.string(), Quantity).optional(),
});

/** A machine as people write it. Each driver's options stand under the driver's name and are checked by it. */
export const MachineSpec = z
  .strictObject({
    name: Name,
    pool: Name,
    powerInterface: z.string().min(1),
    mgmtAddress: z.url({ protocol: /^https?$/, error: 'must be a URL such as https://10.0.0.5' }).optional(),
    macAddress: z
      .string()
      .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i, 'six hex pairs with colons')
      .optional(),
    bmcCredentials: z.string().min(1).optional(),
    redfish: z.record(z.string(), z.unknown()).optional(),
    rack: z.string().optional(),
    zone: z.string().optional(),
    powerCircuit: z.string().optional(),
    resources: Resources,
    watts: z.strictObject({ idle: z.number().nonnegative(), max: z.number().positive() }).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    taints: z.array(Taint).optional(),
    maintenance: z.boolean().optional(),
    inventoryId: z.string().optional(),
    systemUUID: z.string().optional(),
    providerID: z.string().optional(),
  })
  .transform(({ resources, redfish, inventoryId: _, ...spec }): Spec => {
    const { gpu, storage, customResources, ...rest } = resources;
    return {
      ...spec,
      options: redfish,
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
