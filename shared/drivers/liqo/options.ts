import { z } from 'zod';
import { Tls } from '../../schema/tls.ts';

const Label = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'lower-case letters, digits and - only');

export const Options = z
  .strictObject({
    clusterID: Label.optional().describe(
      "the provider's cluster id; a pool that goes by offers has it from them",
    ),
    class: z
      .string()
      .regex(/^[\w.-]+$/, 'letters, digits, - _ .')
      .default('default')
      .describe('how the provider judges what is asked for: the class of the ResourceSlice'),
    liqoNamespace: Label.default('liqo').describe('where Liqo itself runs in our own cluster'),
    tls: Tls.optional(),
  })
  .describe('a slice of a remote cluster, through Liqo');

export type Options = z.output<typeof Options>;
