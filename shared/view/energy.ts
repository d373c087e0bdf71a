import { addEnergy, type Energy } from '../core/energy/energy-saved.ts';
import type { Machine } from '../core/machine/machine.ts';
import type { EnergyView } from './shapes.ts';

type Point = Energy['series'][number];

const sampleEveryMs = 2_000;
/** Ten minutes and more: until then the account in the store has points of its own. */
const mostSamples = 400;

/** Points closer together than those in the store, for as long as this process lives. */
export function createEnergyView(kWhPrice: number | undefined) {
  let samples: readonly Point[] = [];
  const keep = ({ watts, allOn }: Energy, now: number): void => {
    if (!isDue(now)) return;
    const point = { at: now, watts: Math.round(watts), allOn: Math.round(allOn) };
    samples = [...samples, point].slice(-mostSamples);
  };
  const isDue = (now: number): boolean => now - (samples.at(-1)?.at ?? 0) >= sampleEveryMs;
  return {
    /** Machines have changed: what they draw is kept, whether somebody looks or not. */
    note(machines: () => readonly Machine[], now: number): void {
      if (isDue(now)) keep(addEnergy(undefined, machines(), now), now);
    },
    look(account: Energy | undefined, machines: readonly Machine[], now: number): EnergyView {
      // The account is written once a minute; what was saved since then is added here.
      const energy = addEnergy(account, machines, now);
      keep(energy, now);
      const oldest = samples[0]?.at ?? now;
      const kWhSaved = energy.wattHoursSaved / 1_000;
      return {
        wattsNow: Math.round(energy.watts),
        wattsIfAllOn: Math.round(energy.allOn),
        kWhSaved,
        moneySaved: kWhPrice === undefined ? undefined : kWhSaved * kWhPrice,
        since: energy.since,
        series: [...energy.series.filter(({ at }) => at < oldest), ...samples],
      };
    },
  };
}
