import { z } from 'zod';
import { durationMs } from '../shared/runtime/duration.ts';
import { type PressureBand, pressureCategories } from '../shared/schema/pressure.ts';
import type { BandRules, Rule } from './bands.ts';

type Category = (typeof pressureCategories)[number];

const rule = (above: number, forMs: number): Rule => ({ above, forMs });

/** Where bands begin. Measured on small nodes: these give no false rises below half of the cpus in use. */
const defaultBands: Readonly<Record<Category, BandRules>> = {
  cpu: { pressed: [rule(0.6, 250), rule(0.4, 2_000)], severe: [rule(0.9, 10_000)] },
  memory: { pressed: [rule(0.1, 250)], severe: [rule(0.4, 2_000)] },
  storage: { pressed: [rule(0.25, 250)], severe: [rule(0.7, 10_000)] },
  network: { pressed: [rule(0.8, 500)], severe: [rule(0.95, 10_000)] },
  'ephemeral-storage': { pressed: [rule(0.85, 5_000)], severe: [rule(0.95, 5_000)] },
};

/** Waiting while every cpu is in use. */
export const crowdedRules: BandRules = { pressed: [rule(0.4, 400)] };

/** Utilization as it will be in a minute if it goes on climbing. */
export const rampRules: BandRules = { pressed: [rule(0.95, 5_000)] };

const RuleInput = z
  .strictObject({ above: z.number().gt(0).lt(1), for: durationMs })
  .transform(({ above, for: forMs }): Rule => ({ above, forMs }));
const BandInput = z.partialRecord(
  z.enum(['pressed', 'severe'] satisfies Exclude<PressureBand, 'calm'>[]),
  z.array(RuleInput).min(1),
);

/** What people may set, as JSON: bands per category, and how they end. What is not given stays as it is. */
export const SensorBands = z
  .strictObject({
    bands: z.partialRecord(z.enum(pressureCategories), BandInput).default({}),
    clear: z
      .strictObject({ below: z.number().gt(0).lt(1).default(0.6), for: durationMs.prefault('2s') })
      .prefault({})
      .transform(({ below, for: forMs }) => ({ below, forMs })),
  })
  .transform(({ bands, clear }) => ({
    clear,
    bands: Object.fromEntries(
      pressureCategories.map((category) => [category, { ...defaultBands[category], ...bands[category] }]),
    ) as Readonly<Record<Category, BandRules>>,
  }));
export type SensorBands = z.output<typeof SensorBands>;
