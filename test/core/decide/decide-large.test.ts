import { now } from '../../../bench/clusters.ts';
import { type WorkloadOptions, workload } from '../../../bench/workloads.ts';
import { decide } from '../../../shared/core/decide/decide.ts';

/** How many machines are powered on, and for how many pods there is none. */
function outcome(options: WorkloadOptions): { readonly on: number; readonly unmet: number } {
  const { intents, record } = decide(workload(options), now);
  return {
    on: intents.filter(({ kind }) => kind === 'power-on').length,
    unmet: record.unmet.reduce((sum, { pods }) => sum + pods, 0),
  };
}

describe('every pod that needs a node of its own gets one, in one decision', () => {
  test.each([
    { pods: 3, machines: 3, kinds: 1 },
    { pods: 10, machines: 20, kinds: 1 },
    { pods: 100, machines: 200, kinds: 1 },
    { pods: 500, machines: 1_000, kinds: 5 },
  ])('$pods pods, $machines machines of $kinds kinds', (given) => {
    expect(outcome({ ...given, families: ['host-anti-affinity'] })).toEqual({ on: given.pods, unmet: 0 });
  });

  test('more pods than machines: as many as there are machines', () => {
    const given = { pods: 30, machines: 20, kinds: 1, families: ['host-anti-affinity'] } as const;
    expect(outcome(given)).toEqual({ on: 20, unmet: 10 });
  });
});

test.each([1, 2, 3])('1,000 diverse pods, seed %i: a machine for each of the 200 that need one', (seed) => {
  expect(outcome({ pods: 1_000, machines: 6_000, kinds: 400, seed })).toEqual({ on: 200, unmet: 0 });
});

test('10,000 diverse pods, 2,000 of which need a node of their own: 2,000 machines', () => {
  expect(outcome({ pods: 10_000, machines: 6_000, kinds: 400 })).toEqual({ on: 2_000, unmet: 0 });
});

test('pods that are to be spread over zones by random selectors are all served', () => {
  const given = { pods: 2_000, machines: 6_000, kinds: 400, families: ['zone-spread'] } as const;
  expect(outcome(given).unmet).toBe(0);
});
