import { z } from 'zod';
import { Tls } from '../../schema/tls.ts';

export const Options = z
  .strictObject({
    system: z
      .string()
      .startsWith('/')
      .optional()
      .describe('the @odata.id of the system, needed where the BMC manages more than one'),
    auth: z
      .enum(['basic', 'session'])
      .default('basic')
      .describe('session: logs in and out around every look and command, for BMCs that refuse basic'),
    bootMode: z
      .enum(['UEFI', 'Legacy'])
      .optional()
      .describe('how to boot from the network; when not set, as the machine is set up'),
    tls: Tls.optional(),
  })
  .describe('DMTF Redfish');

export type Options = z.output<typeof Options>;
