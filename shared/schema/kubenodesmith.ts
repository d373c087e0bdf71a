import { z } from 'zod';
import type { ConfigInput } from './config.ts';
import type { MachineInput } from './machine.ts';

const count = z.int().nonnegative().optional();

const Pool = z.strictObject({
  name: z.string().min(1),
  providerRef: z.string().min(1),
  poolLabelKey: z.string().default('topology.kubenodesmith.io/pool'),
  limits: z
    .strictObject({ minNodes: count, maxNodes: count, cpuCores: count, memoryMiB: count })
    .refine(({ minNodes = 0, maxNodes = 0 }) => minNodes <= maxNodes, {
      path: ['minNodes'],
      message: 'must not exceed maxNodes',
    })
    .prefault({}),
  machineTemplate: z
    .strictObject({
      kubeNodeNamePrefix: z.string().min(1).optional(),
      architecture: z.string().optional(),
      cpuCores: z.number().positive().optional(),
      memoryMiB: z.int().positive().optional(),
      diskGiB: z.int().positive().optional(),
      tags: z.record(z.string(), z.string()).optional(),
      labels: z.record(z.string(), z.string()).default({}),
    })
    .prefault({}),
  scaleUp: z.strictObject({ batchSize: count, stabilizationWindow: z.string().optional() }).optional(),
  scaleDown: z.strictObject({ maxConcurrent: count, drainTimeout: z.string().optional() }).optional(),
});
type Pool = z.output<typeof Pool>;

/** Where a provider's own settings stand, under options or beside them, differs between its versions. */
const Provider = z.looseObject({
  type: z.string().min(1),
  credentialsRef: z.strictObject({ name: z.string(), namespace: z.string().optional() }).optional(),
  options: z.record(z.string(), z.unknown()).default({}),
});
type Provider = z.output<typeof Provider>;

const Document = z
  .strictObject({
    schemaVersion: z.literal('v1alpha1').optional(),
    pollingInterval: z.union([z.string(), z.number()]).optional(),
    providers: z.record(z.string(), Provider).default({}),
    nodePools: z.array(Pool).default([]),
  })
  .superRefine(({ providers, nodePools }, context) => {
    for (const [index, { providerRef }] of nodePools.entries())
      if (!Object.hasOwn(providers, providerRef))
        context.addIssue({
          code: 'custom',
          path: ['nodePools', index, 'providerRef'],
          message: `there is no provider ${providerRef}; there are ${Object.keys(providers).join(', ') || 'none'}`,
        });
  });

/** A configuration of KubeNodeSmith, bare or as a resource. */
const KubeNodeSmith = z.union([
  Document,
  z.strictObject({
    apiVersion: z.string(),
    kind: z.literal('ScalerConfig'),
    metadata: z.looseObject({}).optional(),
    spec: Document,
  }),
]);

/** Which of the two it looks like; undefined: it is something else. */
export function kubeNodeSmithSchema(input: unknown): z.ZodType | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  if ('kind' in input && input.kind === 'ScalerConfig') return KubeNodeSmith.options[1];
  // With a section of ours it is our file, and a misspelt one.
  if (['autoscaler', 'pools', 'machines'].some((section) => section in input)) return undefined;
  return 'nodePools' in input || 'providers' in input ? KubeNodeSmith.options[0] : undefined;
}

/** The same in our words. `pollingInterval` has no meaning here: nothing is polled. */
export function fromKubeNodeSmith(input: unknown): ConfigInput {
  const parsed = KubeNodeSmith.parse(input);
  const { providers, nodePools } = 'spec' in parsed ? parsed.spec : parsed;
  const described = nodePools.flatMap((pool) => {
    const provider = providers[pool.providerRef];
    return provider ? [{ pool, provider }] : [];
  });
  return {
    schemaVersion: 'v1alpha1',
    pools: described.map(({ pool, provider }) => toPool(pool, provider)),
    machines: described.flatMap(({ pool, provider }) => toMachines(pool, provider)),
  };
}

const labelsOf = ({ machineTemplate, poolLabelKey, name }: Pool): Record<string, string> => ({
  ...machineTemplate.labels,
  [poolLabelKey]: name,
});

function toPool(pool: Pool, provider: Provider): NonNullable<ConfigInput['pools']>[number] {
  const { name, limits, machineTemplate, scaleUp, scaleDown } = pool;
  const { kubeNodeNamePrefix, architecture } = machineTemplate;
  return {
    name,
    limits,
    template: {
      ...(kubeNodeNamePrefix && { namePrefix: kubeNodeNamePrefix }),
      ...(architecture && { architecture }),
      labels: labelsOf(pool),
      ...(provider.type === 'proxmox' && proxmoxTemplate(provider, pool)),
    },
    ...(scaleUp && { scaleUp }),
    ...(scaleDown && { scaleDown }),
  };
}

/** Names of theirs that are others here. */
const renamed: Readonly<Record<string, string>> = {
  nodeWhitelist: 'nodes',
  managedNodeTag: 'managedTag',
};

function proxmoxTemplate(provider: Provider, { machineTemplate: { cpuCores, memoryMiB } }: Pool) {
  const { endpoint, vmOptions, vmMemOverheadMiB, ...options } = provider.options;
  const address = endpoint ?? provider.endpoint;
  const size = cpuCores !== undefined &&
    memoryMiB !== undefined && { cpu: cpuCores, memory: `${memoryMiB}Mi` };
  const named = (vmOptions ?? []) as readonly { name: string; value: string | number | boolean }[];
  return {
    provider: 'proxmox',
    ...(typeof address === 'string' && { mgmtAddress: new URL(address).origin }),
    ...(provider.credentialsRef && { bmcCredentials: provider.credentialsRef.name }),
    options: {
      ...Object.fromEntries(Object.entries(options).map(([key, value]) => [renamed[key] ?? key, value])),
      ...(named.length > 0 && {
        vmOptions: Object.fromEntries(named.map(({ name, value }) => [name, value])),
      }),
    },
    ...(typeof vmMemOverheadMiB === 'number' && { memoryOverhead: `${vmMemOverheadMiB}Mi` }),
    ...(size && { minSize: size, maxSize: size }),
  };
}

/** A provider that lists BMCs has its machines already: one for each address. */
function toMachines(pool: Pool, { type, credentialsRef, options, ...rest }: Provider): MachineInput[] {
  const addresses = z.array(z.string()).safeParse(options.bmcAddresses ?? rest.bmcAddresses);
  if (!addresses.success) return [];
  const { kubeNodeNamePrefix = pool.name, cpuCores, memoryMiB, diskGiB } = pool.machineTemplate;
  return addresses.data.map((address, index) => ({
    name: `${kubeNodeNamePrefix}-${index + 1}`,
    pool: pool.name,
    powerInterface: type,
    mgmtAddress: address.includes('://') ? address : `https://${address}`,
    ...(credentialsRef && { bmcCredentials: credentialsRef.name }),
    resources: {
      cpu: cpuCores ?? 1,
      memory: `${memoryMiB ?? 1024}Mi`,
      ...(diskGiB !== undefined && { storage: `${diskGiB}Gi` }),
    },
    labels: labelsOf(pool),
  }));
}
