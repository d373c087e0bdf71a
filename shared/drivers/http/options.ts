import { z } from 'zod';
import { Tls } from '../../schema/tls.ts';
import { Calls } from './call-schema.ts';
import { presetNames } from './presets.ts';

export const HttpOptions = z.strictObject({
  preset: z.enum(presetNames).optional().describe('the calls of a known device; those given here come first'),
  url: z
    .url({ protocol: /^https?$/, error: 'an http or https URL, such as http://plug-3.lan' })
    .optional()
    .describe('where it answers; when not set, mgmtAddress'),
  credentials: z
    .string()
    .min(1)
    .optional()
    .describe('its credentials, with token or username and password; when not set, bmcCredentials'),
  auth: z
    .enum(['basic', 'digest', 'bearer'])
    .optional()
    .describe(
      "how they are shown; when not set, the preset's way, else bearer for a token and basic for a password",
    ),
  channel: z.int().nonnegative().optional().describe('{{channel}}: which relay; when not set, the first'),
  entity: z
    .string()
    .regex(/^[a-z_]+\.[a-z0-9_]+$/, 'an entity id, such as switch.plug_3')
    .optional()
    .describe('{{entity}}: of Home Assistant'),
  tls: Tls.optional(),
  ...Calls.shape,
});

export type HttpOptions = z.output<typeof HttpOptions>;
