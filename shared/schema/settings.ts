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

/** What is set for all pools together, as people write it. */
export const Settings = z
  .strictObject({
    protect: z.array(z.string().min(1)).default(['control-plane']),
    dryRun: z.boolean().default(false),
    timings: TimingsInput,
  })
  .transform((settings): CoreSettings => settings);

export type SettingsInput = z.input<typeof Settings>;
