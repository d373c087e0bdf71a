import { families } from './generate/generator.ts';
import { verdictsOn } from './instances.ts';

// Others, or larger ones: node test/judge/campaign.ts
test.each(families)('decisions on %s are as the judge would have them', (family) => {
  expect(verdictsOn(family, 0, 9, { maxPods: 100, maxMachines: 100 })).toEqual([]);
});

test.each(['plain', 'mixed', 'karpenter', 'zone-spread'])('so are those on larger %s', (family) => {
  expect(verdictsOn(family, 100, 2, { maxPods: 400, maxMachines: 400 })).toEqual([]);
});
