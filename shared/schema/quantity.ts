import { z } from 'zod';
import { fromQuantities, parseQuantity, type Resources } from '../core/cluster/resources.ts';

const noQuantity = 'must be a Kubernetes quantity such as 8, 500m or 32Gi';

export const Quantity = z
  .union([z.number(), z.string()], { error: noQuantity })
  .refine((value) => (parseQuantity(value) ?? -1) >= 0, noQuantity);

export const Taint = z.strictObject({
  key: z.string().min(1).describe('such as example.com/gpu'),
  value: z.string().optional().describe('empty unless given'),
  effect: z
    .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    .describe('what becomes of pods that do not tolerate it'),
});

interface GivenSize {
  readonly cpu?: string | number | undefined;
  readonly memory?: string | number | undefined;
  readonly gpu?: number | undefined;
}

/** Only what was asked for: nothing is kept free of what is not named. */
export const headroomResources = ({ cpu, memory, gpu }: GivenSize): Resources =>
  fromQuantities({ cpu, memory, 'nvidia.com/gpu': gpu });
