import { z } from 'zod';
import { type PressureBand, pressureCategories } from '../shared/core/decide/signals/pressure-bands.ts';
import { durationMs } from '../shared/schema/duration.ts';
import type { Rule } from './bands.ts';
import { type Category, defaultBands, type SensorBands as Settled } from './default-bands.ts';

const RuleInput = z
  .strictObject({ above: z.number().gt(0).lt(1), for: durationMs })
  .transform(({ above, for: forMs }): Rule => ({ above, forMs }));
const BandInput = z.partialRecord(
  z.enum(['pressed', 'severe'] satisfies Exclude<PressureBand, 'calm'>[]),
  z.array(RuleInput).min(1),
);

/** Options as JSON: bands per category, and how they end. Missing ones keep their defaults. */
export const SensorBands = z
  .strictObject({
    bands: z.partialRecord(z.enum(pressureCategories), BandInput).default({}),
    clear: z
      .strictObject({ below: z.number().gt(0).lt(1).optional(), for: durationMs.optional() })
      .default({}),
  })
  .transform(
    ({ bands, clear: { below, for: forMs } }): Settled => ({
      clear: {
        below: below ?? defaultBands.clear.below,
        forMs: forMs ?? defaultBands.clear.forMs,
      },
      bands: Object.fromEntries(
        pressureCategories.map((category) => [
          category,
          { ...defaultBands.bands[category], ...bands[category] },
        ]),
      ) as Record<Category, Settled['bands'][Category]>,
    }),
  );

/** Throws with what is wrong with it. */
export function parseBands(text: string): Settled {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${(error as Error).message}`);
  }
  const parsed = SensorBands.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
}
