import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseQuantity } from '../../../shared/core/cluster/resources.ts';

export const Taint = z.object({
  key: z.string(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});
export type Taint = z.infer<typeof Taint>;

/** What somebody writes down about one machine of the lab. */
export const MachineDescription = z.object({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a Kubernetes node name'),
  cpu: z.number().positive(),
  memory: z.string().refine((text) => parseQuantity(text) !== undefined, 'a quantity such as 32Gi'),
  gpu: z.number().int().nonnegative().default(0),
  pods: z.number().int().positive().default(110),
  /** `standby` is what the BMC alone draws while the machine is off. */
  watts: z
    .object({ idle: z.number(), max: z.number(), standby: z.number().default(5) })
    .default({ idle: 60, max: 240, standby: 5 }),
  powerOnSeconds: z.number().nonnegative().default(2),
  /** From power on to the kubelet's first registration. */
  bootSeconds: z.number().nonnegative().default(90),
  shutdownSeconds: z.number().nonnegative().default(20),
  arch: z.enum(['amd64', 'arm64']).default('amd64'),
  rack: z.string().optional(),
  zone: z.string().optional(),
  pool: z.string().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  taints: z.array(Taint).default([]),
  providerID: z.string().optional(),
  macAddress: z.string().optional(),
  /** Running when the lab starts. */
  on: z.boolean().default(false),
  credentials: z
    .object({ user: z.string(), password: z.string() })
    .default({ user: 'admin', password: 'lab-password' }),
});
export type MachineDescription = z.infer<typeof MachineDescription>;
export type MachineInput = z.input<typeof MachineDescription>;

/** Identities follow from the name, so that a restarted lab has the same machines. */
export function identityOf(description: MachineDescription) {
  const hash = createHash('sha256').update(description.name).digest('hex');
  const part = (from: number, to: number) => hash.slice(from, to);
  return {
    systemUUID: `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`,
    serialNumber: `LAB${part(32, 41).toUpperCase()}`,
    machineID: part(0, 32),
    macAddress: description.macAddress ?? `02:${part(41, 51).match(/../g)?.join(':')}`,
  };
}

/** `count` equal machines: NAME-1 … NAME-count. */
export function makeMachines(count: number, like: Partial<MachineInput> = {}): MachineInput[] {
  const { name = 'machine', ...rest } = like;
  return Array.from({ length: count }, (_, index) => ({
    cpu: 8,
    memory: '32Gi',
    ...rest,
    name: `${name}-${index + 1}`,
  }));
}
