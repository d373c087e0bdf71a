import { z } from 'zod';
import type { PoolSpec as Spec } from '../core/settings.ts';
import { durationMs } from '../runtime/duration.ts';
import { Name } from './name.ts';

/** A pool as people write it. */
export const PoolSpec = z
  .strictObject({
    name: Name,
    limits: z
      .strictObject({
        minNodes: z.int().nonnegative().default(0),
        maxNodes: z.int().nonnegative().default(0).describe('0 = unbounded'),
      })
      .prefault({})
      .refine(({ minNodes, maxNodes }) => maxNodes === 0 || minNodes <= maxNodes, {
        path: ['minNodes'],
        message: 'must not exceed maxNodes',
      }),
    scaleDown: z
      .strictObject({
        unneededFor: durationMs.prefault('10m'),
        drainTimeout: durationMs.prefault('10m'),
      })
      .prefault({}),
    provisionTimeout: durationMs.prefault('15m'),
  })
  .transform(
    ({ name, limits, scaleDown, provisionTimeout }): Spec => ({
      name,
      limits,
      scaleDown: { unneededForMs: scaleDown.unneededFor, drainTimeoutMs: scaleDown.drainTimeout },
      provisionTimeoutMs: provisionTimeout,
    }),
  );
