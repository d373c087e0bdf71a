import type { Pod } from '../../../shared/core/cluster/cluster.ts';
import { decide } from '../../../shared/core/decide/decide.ts';
import type { Snapshot } from '../../../shared/core/decide/snapshot.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import type { Offer } from '../../../shared/core/remote/offer.ts';
import { MachineSpec } from '../../../shared/schema/machine.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { anySnapshot } from '../support/arbitraries.ts';
import { Gi, machine, now, pool, snapshot } from '../support/builders.ts';
import { deepFreeze } from '../support/deep-freeze.ts';
import { nodeOf, offer, remote, roamers, slice } from '../support/offers.ts';

const runs = { numRuns: 100 };

interface Case {
  readonly snapshot: Snapshot;
  readonly offers: readonly Offer[];
  readonly pods: readonly Pod[];
  readonly budget: number;
}

const anyOffer = (id: string): fc.Arbitrary<Offer> =>
  fc
    .record({
      cpu: fc.integer({ min: 0, max: 8 }),
      memory: fc.constantFrom(4, 8, 32),
      pods: fc.constantFrom(undefined, 3, 20),
      slice: fc.constantFrom(0, 0, 0.3),
      rate: fc.constantFrom(0.05, 0.1, 0.2, 0.4),
      ended: fc.constantFrom(false, false, false, true),
    })
    .map(({ cpu, memory, pods, slice: fee, rate, ended }) =>
      offer(id, {
        resources: { cpu: cpu * 1000, memory: memory * Gi, ...(pods && { pods }) },
        price: { slice: fee, cpu: rate },
        ...(ended && { validUntil: now - 1 }),
      }),
    );

const offerIds = ['a.x', 'b.x', 'c.x'] as const;

/** Up to three offers, some of them in use, own machines, pods of two sizes and a budget. */
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    offers: fc.tuple(...offerIds.map(anyOffer)),
    held: fc.array(
      fc.record({ of: fc.nat(2), cores: fc.integer({ min: 1, max: 3 }), coming: fc.boolean() }),
      {
        maxLength: 2,
      },
    ),
    own: fc.nat(2),
    small: fc.nat(8),
    large: fc.nat(3),
    budget: fc.constantFrom(0, 0, 0.3, 1, 2),
    maxSize: fc.constantFrom(2, 64),
  })
  .map(({ offers, held, own, small, large, budget, maxSize }) => {
    const slices = held.map(({ of, cores, coming }, index): Machine => {
      const made = slice(`s${index}`, offers[of] ?? offer('z.x'), cores);
      return coming
        ? {
            ...made,
            status: { ...made.status, state: 'joining', kubernetesNode: undefined, operation: 'op' },
          }
        : made;
    });
    const pods = [
      ...roamers(small),
      ...roamers(large, { requests: { cpu: 2500, memory: 2 * Gi } }).map((pod) => ({
        ...pod,
        name: `l-${pod.name}`,
      })),
    ];
    return {
      snapshot: {
        ...snapshot({
          machines: [...slices, ...Array.from({ length: own }, (_, index) => machine(`own${index}`))],
          nodes: slices.filter(({ status }) => status.state === 'ready').map((one) => nodeOf(one)),
          pools: [pool(), remote({ limits: { hourlyCost: budget }, maxSize: { cpu: maxSize * 1000 } })],
          pods,
        }),
        offers,
      },
      offers,
      pods,
      budget,
    };
  });

const holds = (check: (given: Case) => void): void => {
  fc.assert(fc.property(anyCase, check), runs);
};

/** All slices once what was decided is done: those that leave still count. */
function slicesAfter({ snapshot: given }: Case): Machine['spec'][] {
  const { intents } = decide(given, now);
  const made = new Map(
    intents.flatMap(({ machine: name, make }) => (make ? [[name, MachineSpec.parse(make)] as const] : [])),
  );
  const before = given.machines.filter(({ spec }) => spec.offer !== undefined && !made.has(spec.name));
  return [...before.map(({ spec }) => spec), ...made.values()];
}

const costOf = (specs: readonly Machine['spec'][]): number =>
  specs.reduce((sum, { pricing }) => sum + (pricing?.hourlyRate ?? 0), 0);

test('what is lent never costs more than the budget allows, unless it did before', () => {
  let bought = 0;
  holds((one) => {
    const before = one.snapshot.machines.map(({ spec }) => spec).filter((spec) => spec.offer !== undefined);
    const after = slicesAfter(one);
    if (costOf(after) > costOf(before)) bought += 1;
    if (one.budget > 0 && costOf(after) > costOf(before))
      expect(costOf(after)).toBeLessThanOrEqual(one.budget + 1e-9);
  });
  expect(bought).toBeGreaterThan(20);
});

test('no more is taken of an offer than it has, and nothing of one that has ended', () => {
  holds((one) => {
    const before = new Set(
      one.snapshot.machines.map(({ spec }) => JSON.stringify(spec.resources) + spec.name),
    );
    const after = slicesAfter(one);
    const fresh = after.filter((spec) => !before.has(JSON.stringify(spec.resources) + spec.name));
    for (const { id, resources, validUntil } of one.offers) {
      const taken = fresh.filter((spec) => spec.offer === id);
      if (validUntil <= now) expect(taken).toEqual([]);
      if (taken.length === 0) continue;
      for (const [name, most] of Object.entries(resources)) {
        const held = after.filter((spec) => spec.offer === id);
        const had = one.snapshot.machines.filter(({ spec }) => spec.offer === id);
        const sum = (specs: readonly Machine['spec'][]) =>
          specs.reduce((total, spec) => total + (spec.resources[name] ?? 0), 0);
        // A slice may have been larger than its offer is now; nothing is added to that then.
        if (sum(held) > sum(had.map(({ spec }) => spec))) expect(sum(held)).toBeLessThanOrEqual(most);
      }
    }
  });
});

test("no more is lent than what one's own machines leave", () => {
  const given = fc.record({ own: fc.nat(3), pods: fc.nat(20), watts: fc.constantFrom(undefined, 50, 5000) });
  fc.assert(
    fc.property(given, ({ own, pods, watts }) => {
      const spec = { pricing: { hourlyRate: 100 }, ...(watts && { watts: { idle: watts, max: watts } }) };
      const machines = Array.from({ length: own }, (_, index) => machine(`own${index}`, { spec }));
      const offers = [offer('a.x'), offer('b.x')];
      const all = { ...snapshot({ machines, pools: [pool(), remote()], pods: roamers(pods) }), offers };
      const made = decide(all, now).intents.flatMap(({ make }) => (make ? [MachineSpec.parse(make)] : []));
      const cores = made.reduce((sum, { resources }) => sum + (resources.cpu ?? 0), 0) / 1000;
      expect(cores).toBe(Math.min(16, Math.max(0, pods - 4 * own)));
    }),
    runs,
  );
});

test('the same for every order of offers, and nothing that was given is changed', () => {
  holds((one) => {
    const frozen = deepFreeze(structuredClone(one.snapshot));
    const turned = { ...frozen, offers: frozen.offers?.toReversed() };
    const { record } = decide(frozen, now);
    expect(JSON.stringify(decide(turned, now).record)).toBe(JSON.stringify(record));
    expect(JSON.stringify(decide(JSON.parse(JSON.stringify(frozen)), now).record)).toBe(
      JSON.stringify(record),
    );
  });
});

test('once it is on its way nothing more is ordered for the same pods', () => {
  holds((one) => {
    const { intents } = decide(one.snapshot, now);
    const specs = new Map(
      intents.flatMap(({ machine: name, make }) => (make ? [[name, MachineSpec.parse(make)] as const] : [])),
    );
    const on = new Set(intents.filter(({ kind }) => kind === 'power-on').map((intent) => intent.machine));
    const known = one.snapshot.machines.map((each): Machine => {
      const spec = specs.get(each.spec.name) ?? each.spec;
      return on.has(each.spec.name)
        ? { ...each, status: { ...each.status, state: 'powering-on', operation: 'op' } }
        : { ...each, spec };
    });
    const fresh = [...specs.values()]
      .filter(({ name }) => on.has(name))
      .map(
        (spec): Machine => machine(spec.name, { spec, status: { state: 'powering-on', operation: 'op' } }),
      );
    const machines = [...known, ...fresh];
    const again = decide({ ...one.snapshot, machines }, now + 1000).intents;
    expect(again.filter(({ kind, why }) => kind !== 'drain' && !why.startsWith('replaces'))).toEqual([]);
  });
});

test('pools without offers are decided about as if there were none', () => {
  fc.assert(
    fc.property(anySnapshot, (given) => {
      const { record: without, ...others } = decide(given, now);
      const { record: with_, ...same } = decide({ ...given, offers: [offer('a.x')] }, now);
      expect({ ...with_, digest: '' }).toEqual({ ...without, digest: '' });
      expect(with_.digest).not.toBe(without.digest);
      expect([same.intents, same.idle, same.candidates]).toEqual([
        others.intents,
        others.idle,
        others.candidates,
      ]);
    }),
    runs,
  );
});
