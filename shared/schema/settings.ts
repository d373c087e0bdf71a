import { z } from 'zod';
import { type Settings as CoreSettings, defaultTimings, type Timings } from '../core/settings.ts';
import { durationMs } from '../runtime/duration.ts';

const names = Object.keys(defaultTimings) as (keyof Timings)[];

/** `bmcTimeout: 10s` for `bmcTimeoutMs`, and so on for every timing. */
const TimingsInput = z
  .strictObject(Object.fromEntries(names.map((name) => [name.replace(/Ms$/, ''), durationMs.optional()])))
  .prefault({})
  .transform(
    (given): Timings =>
      Object.fromEntries(
        names.map((name) => [name, given[name.replace(/Ms$/, '')] ?? defaultTimings[name]]),
      ) as unknown as Timings,
  );

const noPercentage = 'write a percentage such as 30%';

const Percent = z
  .string(noPercentage)
  .regex(/^\d{1,3}%$/, noPercentage)
  .transform((text) => Number(text.slice(0, -1)) / 100)
  .pipe(z.number().max(1, 'write at most 100%'));

/** What is set for all pools together, as people write it. */
export const Settings = z
  .strictObject({
    protect: z.array(z.string().min(1)).default(['control-plane']),
    dryRun: z.boolean().default(false),
    thresholds: z.strictObject({ scaleDown: Percent.prefault('30%') }).prefault({}),
    timings: TimingsInput,
  })
  .transform(
    ({ thresholds, ...settings }): CoreSettings => ({
      ...settings,
      scaleDownThreshold: thresholds.scaleDown,
    }),
  );
