import { z } from 'zod';
import { presetNames } from './presets.ts';

const Oid = z
  .string()
  .regex(/^\d+(\.\d+)+(\.\{outlet\}(\.\d+)*)?$/, 'an OID in digits, with {outlet} where the outlet goes');
const Integer = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);
const Command = z.strictObject({
  oid: Oid.describe('what to write to'),
  value: Integer.describe('what to write'),
});

const authProtocols = ['md5', 'sha', 'sha224', 'sha256', 'sha384', 'sha512'] as const;
const privProtocols = ['des', 'aes', 'aes256b', 'aes256r'] as const;

export const PduOptions = z
  .strictObject({
    preset: z.enum(presetNames).optional().describe('the maker of the PDU'),
    custom: z
      .strictObject({
        status: z
          .strictObject({
            oid: Oid.describe('what to read'),
            on: z.array(Integer).min(1).describe('values that mean on'),
            off: z.array(Integer).min(1).describe('values that mean off'),
          })
          .describe('how to tell whether it is on'),
        on: Command.describe('how to switch it on'),
        off: Command.describe('how to switch it off'),
      })
      .optional()
      .describe('what to read and write, where no preset fits'),
    outlet: z
      .union([z.int().positive().transform(String), z.string().regex(/^\d+(\.\d+)*$/, 'digits and dots')])
      .describe('the number of the outlet, or its whole index, such as 1.2.5 behind another unit'),
    address: z
      .string()
      .min(1)
      .optional()
      .describe('the PDU: host, host:port or snmp://host:port; when not set, mgmtAddress'),
    version: z.enum(['1', '2c', '3']).default('2c').describe('of SNMP'),
    credentials: z
      .string()
      .min(1)
      .optional()
      .describe('community, or for version 3 username, authKey and privKey; when not set, bmcCredentials'),
    authProtocol: z.enum(authProtocols).default('sha').describe('of version 3'),
    privProtocol: z.enum(privProtocols).default('aes').describe('of version 3'),
    context: z.string().max(255).default('').describe('of version 3'),
    retries: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .describe('a request that is not answered in 2 s is sent again'),
  })
  .refine(({ preset, custom }) => (preset === undefined) !== (custom === undefined), {
    error: 'name a preset, or describe the PDU under custom',
    path: ['preset'],
  });

export type PduOptions = z.output<typeof PduOptions>;
