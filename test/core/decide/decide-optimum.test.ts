import type { Pod } from '../../../shared/core/cluster/cluster.ts';
import { decide } from '../../../shared/core/decide/decide.ts';
import type { Machine } from '../../../shared/core/machine/machine.ts';
import { cases } from '../../../tools/support/long.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { Gi, machine, now, pod, snapshot } from '../support/builders.ts';
import { canPlace, spotOfMachine } from '../support/checker.ts';

interface Case {
  readonly machines: readonly Machine[];
  readonly pods: readonly Pod[];
}

const someMachines = (watts: boolean): fc.Arbitrary<Machine[]> =>
  fc
    .array(
      fc.record({
        cpu: fc.constantFrom(2, 4, 6, 8, 12),
        memory: fc.constantFrom(4, 8, 16, 32),
        zone: fc.constantFrom('a', 'b'),
        idle: fc.constantFrom(20, 50, 90, 120),
      }),
      { minLength: 3, maxLength: 6 },
    )
    .map((sizes) =>
      sizes.map(({ cpu, memory, zone, idle }, index) =>
        machine(`m${index}`, {
          spec: {
            resources: { cpu: cpu * 1000, memory: memory * Gi },
            labels: { zone },
            ...(watts && { watts: { idle, max: idle * 2 } }),
          },
        }),
      ),
    );

const somePods: fc.Arbitrary<Pod[]> = fc
  .array(
    fc.record({
      cpu: fc.constantFrom(500, 1000, 1500, 2000, 3000, 4000, 5000),
      memory: fc.constantFrom(1, 2, 3, 4, 6, 8, 12),
      zone: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
    }),
    { minLength: 1, maxLength: 7 },
  )
  .map((wishes) =>
    wishes.map(({ cpu, memory, zone }, index) =>
      pod(`p${index}`, {
        requests: { cpu, memory: memory * Gi },
        ...(zone && { nodeSelector: { zone } }),
      }),
    ),
  );

function subsetsOf<Item>([first, ...others]: readonly Item[]): Item[][] {
  if (first === undefined) return [[]];
  const rest = subsetsOf(others);
  return [...rest, ...rest.map((one) => [first, ...one])];
}

const holdsEveryone = (machines: readonly Machine[], pods: readonly Pod[]): boolean => {
  const largestFirst = pods.toSorted((a, b) => (b.requests.cpu ?? 0) - (a.requests.cpu ?? 0));
  return canPlace(
    largestFirst,
    machines.map((one) => ({ spot: spotOfMachine(one), pods: [] })),
  );
};

/** Saves trying every way where there is obviously none. */
const isLargeEnough = (machines: readonly Machine[], pods: readonly Pod[]): boolean =>
  ['cpu', 'memory'].every(
    (name) =>
      machines.reduce((sum, { spec }) => sum + (spec.resources[name] ?? 0), 0) >=
      pods.reduce((sum, { requests }) => sum + (requests[name] ?? 0), 0),
  );

/** The cheapest set that holds all pods; undefined when none does. */
function optimum({ machines, pods }: Case, cost: (machine: Machine) => number): number | undefined {
  const total = (set: readonly Machine[]): number => set.reduce((sum, one) => sum + cost(one), 0);
  const sets = subsetsOf(machines).toSorted((a, b) => total(a) - total(b));
  if (!holdsEveryone(machines, pods)) return undefined;
  const best = sets.find((set) => isLargeEnough(set, pods) && holdsEveryone(set, pods));
  return best && total(best);
}

/** Compares the decision with the optimum for so many cases that have one. */
function compare(
  watts: boolean,
  runs: number,
  cost: (machine: Machine) => number,
  check: (chosen: number, best: number, given: Case, unmet: number) => void,
  effort?: number,
): { readonly mean: number; readonly exact: number; readonly solvable: number } {
  let excess = 0;
  let exact = 0;
  let solvable = 0;
  const property = fc.property(someMachines(watts), somePods, (machines, pods) => {
    const given = { machines, pods };
    const best = optimum(given, cost);
    if (best === undefined) return;
    const { intents, record } = decide(snapshot({ machines, pods }), now, effort);
    const chosen = intents
      .map((intent) => machines.find(({ spec }) => spec.name === intent.machine))
      .reduce((sum, one) => sum + (one ? cost(one) : 0), 0);
    check(chosen, best, given, record.unmet.length);
    solvable += 1;
    excess += chosen / best - 1;
    if (chosen <= best) exact += 1;
  });
  fc.assert(property, { numRuns: runs });
  return { mean: excess / solvable, exact, solvable };
}

test('against every possible set: all pods served, never more than one machine beyond the fewest', () => {
  const seen = compare(
    false,
    cases(7_600, 380),
    () => 1,
    (chosen, best, _given, unmet) => {
      expect(unmet).toBe(0);
      expect(chosen).toBeLessThanOrEqual(best + 1);
    },
  );
  expect(seen.solvable).toBeGreaterThanOrEqual(cases(5_000, 250));
  console.log(
    `machines: ${seen.exact} of ${seen.solvable} at the optimum, ${(seen.mean * 100).toFixed(2)} % above it on average`,
  );
  expect(seen.mean).toBeLessThan(0.01);
});

test('and watts stay near the least that any set would idle at', () => {
  const seen = compare(
    true,
    cases(700, 100),
    ({ spec }) => spec.watts?.idle ?? 0,
    (_chosen, _best, _given, unmet) => expect(unmet).toBe(0),
  );
  console.log(
    `idle watts: ${seen.exact} of ${seen.solvable} at the optimum, ${(seen.mean * 100).toFixed(2)} % above it on average`,
  );
  expect(seen.mean).toBeLessThan(0.05);
});

test('a first draft, which is all that very large clusters get, is not far from it', () => {
  let unserved = 0;
  const seen = compare(
    false,
    cases(2_000, 200),
    () => 1,
    (_chosen, _best, _given, unmet) => {
      if (unmet > 0) unserved += 1;
    },
    0,
  );
  console.log(
    `first drafts: ${seen.exact} of ${seen.solvable} at the optimum, ${(seen.mean * 100).toFixed(2)} % above it on average, ${unserved} with somebody unserved`,
  );
  expect(seen.mean).toBeLessThan(0.05);
  expect(unserved / seen.solvable).toBeLessThan(0.02);
});
