import { z } from 'zod';
import {
  type PressureBand,
  pressureBands,
  pressureCategories,
} from '../core/decide/signals/pressure-bands.ts';

const share = z.number().min(0).max(1);
const rank = (band: PressureBand): number => pressureBands.indexOf(band);

/** A report of a sensor about its node: a band that was entered or left, or that continues. */
export const PressureReport = z
  .strictObject({
    node: z.string().min(1).max(253).describe('the Kubernetes Node'),
    category: z.enum(pressureCategories),
    from: z.enum(pressureBands),
    to: z.enum(pressureBands),
    sign: z
      .enum(['rising', 'falling'])
      .describe('from the last change of band, not from the momentary slope'),
    level: share.describe('0.7 is where the band begins, 1 is the maximum'),
    share: share.describe('the share of the window in which tasks had to wait, or that was in use'),
    full: share.optional().describe('the share of it in which all tasks had to wait'),
    baseline: share.describe('the usual share while it is calm'),
    ratePerSecond: z.number().min(-100).max(100).describe('how fast the share changes'),
    windowMs: z.int().positive().max(3_600_000),
    signal: z.enum(['psi', 'crowded', 'utilization', 'link', 'filesystem']),
    pods: z
      .array(
        z.strictObject({
          uid: z.string().min(1).max(64),
          share,
          ownLimit: z.literal(true).optional().describe('it is held by its own limit: no machine helps it'),
          waitMs: z.number().min(0).optional().describe('95 % of its waits for a cpu are shorter'),
          retransmits: z.int().min(0).optional().describe('TCP segments that it had to send again'),
          reclaimMs: z.int().min(0).optional().describe('time it spent making room in memory'),
        }),
      )
      .max(20)
      .describe('those that press most, the first the most'),
    unattributed: share.describe('the share that no pod accounts for'),
    sequence: z.int().positive().describe('of the node; grows with every report, also over restarts'),
  })
  .refine(({ from, to, sign }) => (sign === 'rising' ? rank(to) >= rank(from) : rank(to) < rank(from)), {
    path: ['sign'],
    error: 'does not go with the bands: rising ends in the same or a higher one, falling in a lower one',
  })
  .refine(({ to, sign }) => sign === 'falling' || to !== 'calm', {
    path: ['to'],
    error: 'rising pressure is not calm',
  });
export type PressureReport = z.output<typeof PressureReport>;
