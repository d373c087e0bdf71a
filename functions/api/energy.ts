import { addEnergy, type Energy } from '../../shared/core/energy-saved.ts';
import type { Machine } from '../../shared/core/machine.ts';
import type { EnergyView } from './shapes.ts';

type Point = Energy['series'][number];

const sampleEveryMs = 2_000;
/** Ten minutes and more: until then the account in the store has points of its own. */
const mostSamples = 400;

/** Points closer together than those in the store, for as long as this process lives. */
export function createEnergyView(kWhPrice: number | undefined) {
  let samples: readonly Point[] = [];
  return (account: Energy | undefined, machines: readonly Machine[], now: number): EnergyView => {
    // The account is written once a minute; what was saved since then is added here.
    const { watts, allOn, wattHoursSaved, since, series } = addEnergy(account, machines, now);
    if (now - (samples.at(-1)?.at ?? 0) >= sampleEveryMs)
      samples = [...samples, { at: now, watts: Math.round(watts), allOn: Math.round(allOn) }].slice(
        -mostSamples,
      );
    const oldest = samples[0]?.at ?? now;
    const kWhSaved = wattHoursSaved / 1_000;
    return {
      wattsNow: Math.round(watts),
      wattsIfAllOn: Math.round(allOn),
      kWhSaved,
      moneySaved: kWhPrice === undefined ? undefined : kWhSaved * kWhPrice,
      since,
      series: [...series.filter(({ at }) => at < oldest), ...samples],
    };
  };
}
