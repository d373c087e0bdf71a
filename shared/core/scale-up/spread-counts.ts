import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { Surroundings } from './policies.ts';

const fields = ['zone', 'rack', 'powerCircuit'] as const;

export interface Neighbourhood {
  readonly neighbours: Surroundings['neighbours'];
  count(machine: Machine, sign: 1 | -1): void;
}

/** How many machines are on in every zone, rack and circuit. */
export function createNeighbourhood(machines: readonly Machine[]): Neighbourhood {
  const counts = new Map<string, number>();
  const count = ({ spec }: Machine, sign: 1 | -1): void => {
    for (const field of fields) {
      const value = spec[field];
      if (value === undefined) continue;
      const key = `${field} ${value}`;
      counts.set(key, (counts.get(key) ?? 0) + sign);
    }
  };
  for (const machine of machines) if (capacityOf(machine) !== 'none') count(machine, 1);
  return {
    neighbours: (field, value) => (value === undefined ? 0 : (counts.get(`${field} ${value}`) ?? 0)),
    count,
  };
}

/** What machines draw that do not say so: as much as the hungriest that does. */
export function usualWatts(machines: readonly Machine[]): number {
  let most = 0;
  for (const { spec } of machines) most = Math.max(most, spec.watts?.max ?? 0);
  return most || 1;
}
