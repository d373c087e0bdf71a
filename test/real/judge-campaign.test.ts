import { families } from '../judge/generate/generator.ts';
import { verdictsOn } from '../judge/instances.ts';

test.each(families)('90 more decisions on %s are as the judge would have them', (family) => {
  expect(verdictsOn(family, 1000, 90, { maxPods: 200, maxMachines: 200 })).toEqual([]);
});

test.each(families)('so are decisions on %s with up to 5,000 pods and 6,000 machines', (family) => {
  expect(verdictsOn(family, 8000, 2, { maxPods: 5_000, maxMachines: 6_000 })).toEqual([]);
});
