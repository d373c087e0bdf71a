import { z } from 'zod';
import { fromQuantities } from '../core/cluster/resources.ts';
import type { Size as CoreSize, Template as CoreTemplate, OfferRules } from '../core/settings.ts';
import { durationMs } from './duration.ts';
import { Name } from './name.ts';
import { Quantity, Taint } from './quantity.ts';

const size = (meaning: string, cpu: number, memory: string) =>
  z
    .strictObject({
      cpu: Quantity.default(cpu).describe('cpu cores'),
      memory: Quantity.default(memory).describe('memory'),
      gpu: z.int().nonnegative().default(0).describe('GPUs'),
    })
    .prefault({})
    .describe(meaning);

const Provider = z.strictObject({
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('the driver that makes machines on demand, such as proxmox'),
  namePrefix: Name.optional().describe(
    "machines are called this, a dash and a number; the pool's name unless given",
  ),
  options: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("the driver's options, as they stand in a machine under the driver's name"),
  mgmtAddress: z.string().min(1).optional().describe('address of the provider that creates them'),
  bmcCredentials: z.string().min(1).optional().describe('a name in the credentials folder, or a Secret'),
  minSize: size('none is made smaller', 1, '1Gi'),
  maxSize: size('none is made larger', 8, '32Gi'),
  memoryOverhead: Quantity.default('512Mi').describe(
    'what a machine keeps for itself: it is made larger by that than pods can use',
  ),
  watts: z
    .strictObject({
      idle: z.number().nonnegative().describe('when nothing runs on it'),
      max: z.number().positive().describe('when it is full'),
    })
    .optional()
    .describe('of one of the largest size; smaller ones in proportion'),
  pricing: z
    .strictObject({
      hourlyRate: z.number().nonnegative().optional().describe('an hour of it'),
      podRate: z.number().nonnegative().optional().describe('an hour of a pod on it'),
    })
    .optional()
    .describe('of one of the largest size; smaller ones in proportion'),
});

const Offers = z
  .strictObject({
    providers: z.array(z.string().min(1)).min(1).optional().describe('only of these clusters, by their ids'),
    regions: z
      .array(z.string().min(1))
      .default([])
      .describe('preferred where prices are the same, the first most'),
    onlyRegions: z.boolean().default(false).describe('none of any other region'),
    maxLatency: durationMs.optional().describe('none of a provider that takes longer to answer'),
  })
  .optional()
  .describe(
    'for the provider liqo: which offers of remote clusters are taken; all that are trusted unless given',
  );

/** The driver whose machines are slices of remote clusters. */
const remoteProvider = 'liqo';

/** What machines of a pool have in common, and how they are made where they are made on demand. */
export const Template = Provider.extend({
  architecture: z.string().optional().describe('kubernetes.io/arch of its nodes, such as amd64'),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe('set on its nodes and counted on when pods are fitted'),
  taints: z.array(Taint).optional().describe('likewise'),
  offers: Offers,
})
  .prefault({})
  .describe('what its machines have in common');

const toSize = ({
  cpu,
  memory,
  gpu,
}: {
  cpu: string | number;
  memory: string | number;
  gpu: number;
}): CoreSize => {
  const { cpu: millis = 0, memory: bytes = 0 } = fromQuantities({ cpu, memory });
  return { cpu: millis, memory: bytes, gpu };
};

function toRules({ maxLatency, ...rules }: NonNullable<z.output<typeof Offers>> = noRules): OfferRules {
  return { ...rules, maxLatencyMs: maxLatency };
}

const noRules = { regions: [], onlyRegions: false };

export function toTemplate(
  {
    architecture,
    labels,
    taints,
    provider,
    namePrefix,
    minSize,
    maxSize,
    memoryOverhead,
    offers,
    ...rest
  }: z.output<typeof Template>,
  pool: string,
): CoreTemplate {
  return {
    architecture,
    labels,
    taints,
    ...(provider !== undefined && {
      provider: {
        ...rest,
        name: provider,
        namePrefix: namePrefix ?? pool,
        minSize: toSize(minSize),
        maxSize: toSize(maxSize),
        memoryOverhead: fromQuantities({ memory: memoryOverhead }).memory ?? 0,
        ...(provider === remoteProvider && { offers: toRules(offers) }),
      },
    }),
  };
}
