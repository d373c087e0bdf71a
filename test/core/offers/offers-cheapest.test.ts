import { decide } from '../../../shared/core/decide/decide.ts';
import { hourlyPrice, type Offer } from '../../../shared/core/remote/offer.ts';
import { MachineSpec } from '../../../shared/schema/machine.ts';
import { cases } from '../../../tools/support/long.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { Gi, now, snapshot } from '../support/builders.ts';
import { offer, remote, roamers } from '../support/offers.ts';

const runs = { numRuns: cases(150, 30) };

/** What is ordered costs, and how many of the pods it serves. */
function outcomeOf(
  offers: readonly Offer[],
  pods: ReturnType<typeof roamers>,
  maxCores = 64,
): { readonly served: number; readonly cost: number } {
  const pools = [remote({ maxSize: { cpu: maxCores * 1000 } })];
  const { intents, record } = decide({ ...snapshot({ pools, pods }), offers }, now);
  const made = intents.map(({ make }) => MachineSpec.parse(make));
  return {
    served: pods.length - record.unmet.reduce((sum, each) => sum + each.pods, 0),
    cost: made.reduce((sum, { pricing }) => sum + (pricing?.hourlyRate ?? 0), 0),
  };
}

/** Pods of one core: what serving all of them, or as many as can be, costs at least, with one slice of an offer. */
function cheapest(
  offers: readonly Offer[],
  pods: number,
): { readonly served: number; readonly cost: number } {
  const [first, ...rest] = offers;
  if (!first) return { served: 0, cost: 0 };
  let best = { served: -1, cost: 0 };
  for (let taken = 0; taken <= Math.min(pods, (first.resources.cpu ?? 0) / 1000); taken += 1) {
    const others = cheapest(rest, pods - taken);
    const served = taken + others.served;
    const fee = taken > 0 ? (first.price.slice ?? 0) : 0;
    const cost = fee + taken * (first.price.cpu ?? 0) + others.cost;
    if (served > best.served || (served === best.served && cost < best.cost - 1e-12)) best = { served, cost };
  }
  return best;
}

const anyOffers = (fees: readonly number[]) =>
  fc
    .array(
      fc.record({
        cores: fc.integer({ min: 0, max: 5 }),
        rate: fc.constantFrom(0.05, 0.07, 0.1, 0.3),
        fee: fc.constantFrom(...fees),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((all) =>
      all.map(({ cores, rate, fee }, index) =>
        offer(`o${index}.x`, {
          resources: { cpu: cores * 1000, memory: 64 * Gi },
          price: { cpu: rate, slice: fee },
        }),
      ),
    );

test('with prices per core, no other way to serve as many pods is cheaper', () => {
  const given = fc.record({
    offers: anyOffers([0]),
    pods: fc.integer({ min: 1, max: 12 }),
    maxCores: fc.constantFrom(2, 64),
  });
  fc.assert(
    fc.property(given, ({ offers, pods, maxCores }) => {
      const { served, cost } = outcomeOf(offers, roamers(pods), maxCores);
      const best = cheapest(offers, pods);
      expect(served).toBe(best.served);
      expect(cost).toBeCloseTo(best.cost, 9);
    }),
    runs,
  );
});

test('an offer is done without where the price of one more slice is more than it saves', () => {
  const small = offer('a.x', { resources: { cpu: 3000, memory: 64 * Gi } });
  const fee = offer('b.x', { price: { cpu: 0.05, slice: 0.3 } });
  expect(outcomeOf([small, fee], roamers(3)).cost).toBeCloseTo(0.3, 9);
  expect(outcomeOf([small, fee], roamers(4)).cost).toBeCloseTo(0.5, 9);
});

test('nor, nearly always, where every slice has a price of its own', () => {
  let above = 0;
  let best = 0;
  let optimal = 0;
  const given = fc.record({ offers: anyOffers([0, 0.1, 0.3]), pods: fc.integer({ min: 1, max: 12 }) });
  fc.assert(
    fc.property(given, ({ offers, pods }) => {
      const found = outcomeOf(offers, roamers(pods));
      const least = cheapest(offers, pods);
      expect(found.served).toBe(least.served);
      if (found.cost < least.cost + 1e-9) optimal += 1;
      above += found.cost - least.cost;
      best += least.cost;
    }),
    runs,
  );
  console.log(
    `${optimal} of ${runs.numRuns} at the least cost, ${((100 * above) / best).toFixed(2)} % above it on average`,
  );
  expect(above / best).toBeLessThan(0.01);
});

test('where one offer has cheap cores and another cheap memory, each holds the pods that are cheap there', () => {
  const price = fc.record({
    cpu: fc.constantFrom(0.01, 0.05, 0.1),
    memoryGiB: fc.constantFrom(0.01, 0.05, 0.1),
  });
  const given = fc.record({
    prices: fc.array(price, { minLength: 2, maxLength: 3 }),
    thinkers: fc.integer({ min: 1, max: 4 }),
    hoarders: fc.integer({ min: 1, max: 4 }),
  });
  const [thinks, hoards] = [
    { cpu: 4000, memory: Gi },
    { cpu: 1000, memory: 8 * Gi },
  ];
  fc.assert(
    fc.property(given, ({ prices, thinkers, hoarders }) => {
      const offers = prices.map((each, index) =>
        offer(`o${index}.x`, { resources: { cpu: 64_000, memory: 256 * Gi }, price: each }),
      );
      const pods = [
        ...roamers(thinkers, { requests: thinks }),
        ...roamers(hoarders, { requests: hoards }).map((pod) => ({ ...pod, name: `h-${pod.name}` })),
      ];
      const least = (requests: typeof thinks) =>
        Math.min(...offers.map((each) => hourlyPrice(each.price, requests)));
      const { served, cost } = outcomeOf(offers, pods);
      expect(served).toBe(pods.length);
      expect(cost).toBeCloseTo(thinkers * least(thinks) + hoarders * least(hoards), 9);
    }),
    runs,
  );
});
