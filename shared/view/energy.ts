import { addEnergy, type Energy } from '../core/energy/energy-saved.ts';
import type { Machine } from '../core/machine/machine.ts';
import type { EnergyView } from './shapes.ts';

/** The account is written once a minute; what was saved since then is added here. */
export function energyView(
  account: Energy | undefined,
  machines: readonly Machine[],
  now: number,
  kWhPrice: number | undefined,
): EnergyView {
  const { watts, allOn, wattHours, wattHoursSaved, since } = addEnergy(account, machines, now);
  const kWhSaved = wattHoursSaved / 1_000;
  return {
    wattsNow: Math.round(watts),
    wattsIfAllOn: Math.round(allOn),
    kWhUsed: wattHours / 1_000,
    kWhSaved,
    moneySaved: kWhPrice === undefined ? undefined : kWhSaved * kWhPrice,
    since,
  };
}
