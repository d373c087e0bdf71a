import type { pressureCategories } from '../shared/core/decide/signals/pressure-bands.ts';
import type { BandRules, Clearing, Rule } from './bands.ts';

export type Category = (typeof pressureCategories)[number];

/** Where bands begin, and how they end. */
export interface SensorBands {
  readonly bands: Readonly<Record<Category, BandRules>>;
  readonly clear: Clearing;
}

const rule = (above: number, forMs: number): Rule => ({ above, forMs });

/** Measured on small nodes: these give no false rises below half of the cpus in use. */
export const defaultBands: SensorBands = {
  bands: {
    cpu: { pressed: [rule(0.6, 250), rule(0.4, 2_000)], severe: [rule(0.9, 10_000)] },
    memory: { pressed: [rule(0.1, 250)], severe: [rule(0.4, 2_000)] },
    storage: { pressed: [rule(0.25, 250)], severe: [rule(0.7, 10_000)] },
    network: { pressed: [rule(0.8, 250)], severe: [rule(0.95, 10_000)] },
    'ephemeral-storage': { pressed: [rule(0.85, 5_000)], severe: [rule(0.95, 5_000)] },
  },
  clear: { below: 0.6, forMs: 2_000 },
};

/** Waiting while every cpu is in use. */
export const crowdedRules: BandRules = { pressed: [rule(0.4, 400)] };

/** Utilization as it will be in a minute if it goes on climbing. */
export const rampRules: BandRules = { pressed: [rule(0.95, 5_000)] };
