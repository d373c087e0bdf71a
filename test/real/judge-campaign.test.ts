import { families } from '../judge/generator.ts';
import { verdictsOn } from '../judge/instances.ts';

test.each(families)('90 more decisions on %s are as the judge would have them', (family) => {
  expect(verdictsOn(family, 1000, 90, { maxPods: 200, maxMachines: 200 })).toEqual([]);
});
