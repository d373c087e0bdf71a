import { z } from 'zod';
import { durationMs } from '../../schema/duration.ts';
import { cipherSuites } from './suites.ts';
import type { Privilege } from './talk.ts';

/** User may read and no more. */
export const privileges = {
  user: { name: 'user', level: 2 },
  operator: { name: 'operator', level: 3 },
  administrator: { name: 'administrator', level: 4 },
} as const satisfies Record<string, Privilege>;

const noSuite = 'must be 17 or 3: others do not authenticate, do not encrypt, or are not secure';
const Suite = z.union([z.literal(17), z.literal(3)], { error: noSuite });

export const Options = z.strictObject({
  port: z.int().min(1).max(65_535).default(623).describe('UDP port, unless mgmtAddress has one'),
  cipherSuites: z
    .array(Suite)
    .min(1)
    .refine((suites) => new Set(suites).size === suites.length, 'must not name a suite twice')
    .default([17, 3])
    .transform((suites) => suites.map((id) => cipherSuites[id]))
    .describe('tried in this order; the next only when the BMC says that it does not know one'),
  privilege: z
    .enum(Object.keys(privileges) as (keyof typeof privileges)[])
    .default('operator')
    .transform((name) => privileges[name])
    .describe('as what to log in: powering needs operator'),
  retransmitAfter: durationMs
    .pipe(z.int().min(10).max(10_000))
    .prefault('1s')
    .describe('a packet without an answer is sent again after this time'),
  retransmitTries: z
    .int()
    .min(1)
    .max(20)
    .default(4)
    .describe('how often a packet is sent before the login is begun again, which happens up to 3 times'),
  bootMode: z.enum(['uefi', 'legacy']).default('uefi').describe('how it boots from the network'),
  tool: z
    .enum(['native', 'ipmitool'])
    .default('native')
    .describe('ipmitool: run that program instead, for a BMC that our own client does not get along with'),
});
export type Options = z.output<typeof Options>;
