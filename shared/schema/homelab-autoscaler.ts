import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { ConfigInput } from './config.ts';
import { ConfigError } from './config-file.ts';
import type { MachineInput } from './machine.ts';

const labels = z.record(z.string(), z.string()).default({});
const metadata = z.looseObject({ name: z.string().min(1), labels });

const PowerPod = z.looseObject({
  image: z.string().min(1),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  serviceAccount: z.string().optional(),
  volumes: z
    .array(
      z.looseObject({
        name: z.string(),
        mountPath: z.string(),
        secretName: z.string().optional(),
        configMapName: z.string().optional(),
      }),
    )
    .default([]),
});
type PowerPod = z.output<typeof PowerPod>;

const Group = z.looseObject({
  kind: z.literal('Group'),
  metadata,
  spec: z.looseObject({
    maxSize: z.int().nonnegative(),
    nodeSelector: labels,
    maxNodeProvisionTime: z.string().optional(),
  }),
});

const Node = z.looseObject({
  kind: z.literal('Node'),
  metadata,
  spec: z.looseObject({
    kubernetesNodeName: z.string().min(1),
    startupPodSpec: PowerPod,
    shutdownPodSpec: PowerPod,
    pricing: z.looseObject({ hourlyRate: z.number(), podRate: z.number() }).optional(),
  }),
});

const Resource = z.discriminatedUnion('kind', [Group, Node]);
type Group = z.output<typeof Group>;
type Node = z.output<typeof Node>;

/** Resources of a machine, which theirs do not have. */
export interface MachineSize {
  readonly cpu: number;
  readonly memory: string;
}

/**
 * Groups and Nodes of homelab-autoscaler in our words. A Node's powerState is left behind: here it would mean that
 * a person keeps the machine on, or off, whatever the demand.
 */
export function fromHomelabAutoscaler(text: string, size: MachineSize, file: string): ConfigInput {
  const resources = parseAllDocuments(text).flatMap((document): (Group | Node)[] => {
    if (document.errors[0]) throw new ConfigError(`${file}: ${document.errors[0].message}`);
    const value: unknown = document.toJS();
    // As kubectl get -o yaml writes several.
    const list = z.looseObject({ kind: z.literal('List'), items: z.array(z.unknown()) }).safeParse(value);
    return (list.success ? list.data.items : value === null ? [] : [value]).map((one) =>
      resourceOf(one, file),
    );
  });
  const groups = resources.filter((one): one is Group => one.kind === 'Group');
  const nodes = resources.filter((one): one is Node => one.kind === 'Node');
  return {
    schemaVersion: 'v1alpha1',
    pools: groups.map(({ metadata: { name }, spec }) => ({
      name,
      managedBy: 'clusterAutoscaler' as const,
      limits: { maxNodes: spec.maxSize },
      ...(spec.maxNodeProvisionTime && { provisionTimeout: spec.maxNodeProvisionTime }),
    })),
    machines: nodes.map((node) => toMachine(node, groups, size, file)),
  };
}

function resourceOf(value: unknown, file: string): Group | Node {
  const parsed = Resource.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ConfigError(
    `${file}: ${issue?.path.join('.') || 'a document'}: ${issue?.message}; give Groups and Nodes of infra.homecluster.dev`,
  );
}

function toMachine(
  { metadata, spec }: Node,
  groups: readonly Group[],
  size: MachineSize,
  file: string,
): MachineInput {
  const { startupPodSpec, shutdownPodSpec, pricing } = spec;
  const pool = groups.find(
    ({ metadata: { name }, spec: { nodeSelector } }) =>
      metadata.labels.group === name ||
      (Object.keys(nodeSelector).length > 0 &&
        Object.entries(nodeSelector).every(([key, value]) => metadata.labels[key] === value)),
  );
  if (!pool)
    throw new ConfigError(
      `${file}: Node ${metadata.name} is in no Group: give the Group too, or label the Node`,
    );
  return {
    name: spec.kubernetesNodeName,
    pool: pool.metadata.name,
    powerInterface: 'job',
    job: { startup: podOf(startupPodSpec), shutdown: podOf(shutdownPodSpec) },
    resources: { cpu: size.cpu, memory: size.memory },
    ...(pricing && { pricing: { hourlyRate: pricing.hourlyRate, podRate: pricing.podRate } }),
  } as MachineInput;
}

const podOf = ({ image, command, args, volumes, serviceAccount }: PowerPod): object => ({
  spec: {
    restartPolicy: 'Never',
    ...(serviceAccount && { serviceAccountName: serviceAccount }),
    containers: [
      {
        name: 'power',
        image,
        ...(command && { command }),
        ...(args && { args }),
        ...(volumes.length > 0 && {
          volumeMounts: volumes.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
        }),
      },
    ],
    ...(volumes.length > 0 && {
      volumes: volumes.map(({ name, secretName, configMapName }) => ({
        name,
        ...(secretName && { secret: { secretName } }),
        ...(configMapName && { configMap: { name: configMapName } }),
      })),
    }),
  },
});
