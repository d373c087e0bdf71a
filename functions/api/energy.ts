import type { Energy } from '../../shared/core/energy-saved.ts';
import type { EnergyView } from './shapes.ts';

export const energyView = (energy: Energy | undefined): EnergyView => ({
  wattsNow: Math.round(energy?.watts ?? 0),
  wattsIfAllOn: Math.round(energy?.allOn ?? 0),
  kWhSaved: (energy?.wattHoursSaved ?? 0) / 1_000,
  since: energy?.since,
  series: [...(energy?.series ?? [])],
});
