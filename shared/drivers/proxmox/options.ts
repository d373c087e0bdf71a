import { z } from 'zod';
import { Tls } from '../../schema/tls.ts';

const Interface = z.strictObject({
  name: z
    .string()
    .regex(/^net\d{1,2}$/, 'net0, net1 …')
    .default('net0')
    .describe('which card'),
  model: z
    .string()
    .regex(/^[a-z0-9]+$/)
    .default('virtio')
    .describe('the emulated network card'),
  bridge: z.string().regex(/^\w+$/).optional().describe('such as vmbr0'),
  vlanTag: z.int().min(1).max(4094).optional().describe('none unless given'),
  macPrefix: z
    .string()
    .regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){2}$/i, 'three hex pairs with colons')
    .default('02:00:00')
    .describe('the rest of the address follows from the name of the machine'),
});

export const Options = z
  .strictObject({
    vmid: z
      .int()
      .min(100)
      .optional()
      .describe('an existing VM; machines made on demand get theirs from vmIDRange'),
    tls: Tls.optional(),
    nodes: z
      .array(z.string().regex(/^[\w.-]+$/))
      .optional()
      .describe('the hypervisors that may hold machines; all of them when not set'),
    vmIDRange: z
      .strictObject({
        lower: z.int().min(100).describe('the first'),
        upper: z.int().max(999_999_999).describe('the last'),
      })
      .refine(({ lower, upper }) => lower <= upper, { path: ['lower'], message: 'must not exceed upper' })
      .optional()
      .describe('ids for machines made on demand'),
    managedTag: z
      .string()
      .regex(/^[a-z0-9_][a-z0-9_.-]*$/, 'lower case letters, digits, - _ .')
      .default('bamel-managed')
      .describe('only what carries this tag is ever deleted'),
    template: z
      .strictObject({
        vmid: z.int().min(100).describe('the template, or any VM'),
        full: z.boolean().default(true).describe('a full copy of the disks instead of a linked one'),
        storage: z.string().optional().describe('where a full copy goes'),
      })
      .optional()
      .describe('cloned for every machine; without it a VM is created from vmOptions'),
    networkInterfaces: z.array(Interface).default([]).describe('its network cards'),
    vmOptions: z
      .record(z.string().regex(/^[a-z][a-z0-9_-]*$/), z.union([z.string(), z.number(), z.boolean()]))
      .default({})
      .describe('anything else that Proxmox knows about a VM, such as cpu: host'),
    shutdownTimeout: z.int().positive().default(180).describe('seconds a guest gets to shut down'),
  })
  .describe('a VM of Proxmox VE');

export type Options = z.output<typeof Options>;
