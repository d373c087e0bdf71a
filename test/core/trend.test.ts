import {
  addSample,
  emptyTrend,
  type Sample,
  sampleOf,
  samplesOf,
  type Trend,
  tierNames,
  tiers,
} from '../../shared/core/energy/trend.ts';
import { Gi, machine, minute, now, serving } from './support/builders.ts';

const withHistory = (one: ReturnType<typeof machine>, ...history: { at: number; to: string }[]) => ({
  ...one,
  history,
});

test('a sample counts machines by state, what waits, what is used, what is drawn and what was begun', () => {
  const machines = [
    withHistory(serving('a', { spec: { watts: { idle: 50, max: 150 } } }), {
      at: now - 5,
      to: 'powering-on',
    }),
    withHistory(machine('b', { spec: { watts: { idle: 50, max: 150 } } }), {
      at: now - 90_000,
      to: 'draining',
    }),
  ];
  const use = new Map([['a', { pods: 2, requests: { cpu: 1_000, memory: 12 * Gi } }]]);
  const { values } = sampleOf({ machines, use, waiting: 3, since: now - minute }, now);
  expect(values).toMatchObject({
    'state/ready': 1,
    'state/off': 1,
    'state/error': 0,
    'pods/waiting': 3,
    'used/workers': 75,
    'watts/now': 100,
    'watts/all-on': 150,
    'begun/power-on': 1,
    'begun/drain': 0,
  });
});

test('what is not known is left out: no zero is made up', () => {
  const off = [withHistory(machine('b'))];
  const on = [withHistory(serving('a'))];
  const unknown = { use: undefined, waiting: undefined, since: now };
  expect(sampleOf({ machines: on, ...unknown }, now).values).not.toHaveProperty('used/workers');
  expect(sampleOf({ machines: on, ...unknown }, now).values).not.toHaveProperty('pods/waiting');
  expect(sampleOf({ machines: off, use: new Map(), waiting: 0, since: now }, now).values).not.toHaveProperty(
    'used/workers',
  );
});

const filled = (minutes: number): Trend => {
  let trend = emptyTrend;
  for (let at = 1; at <= minutes; at += 1)
    trend = addSample(trend, { at: at * minute, values: { 'state/ready': at % 10, 'begun/drain': 1 } });
  return trend;
};

test('every tier is bounded, and coarser ones hold averages and sums', () => {
  const trend = filled(45 * 24 * 60);
  for (const tier of tierNames) expect([tier, trend[tier].length]).toEqual([tier, tiers[tier].most]);
  expect(trend['ten-minutes'].at(-1)?.values).toEqual({ 'state/ready': 4.5, 'begun/drain': 10 });
  expect(trend.hour.at(-1)?.values['begun/drain']).toBe(60);
});

test.each([15, 60, 6 * 60, 24 * 60, 7 * 24 * 60, 30 * 24 * 60])(
  'the last %d minutes, ascending, never more than a thousand and some points',
  (span) => {
    const minutes = 31 * 24 * 60;
    const end = minutes * minute;
    const live: Sample[] = [{ at: end - 1_000, values: {} }];
    const samples = samplesOf(filled(minutes), live, end - span * minute, end);
    const times = samples.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
    expect(times.at(-1)).toBe(end - 1_000);
    expect(times.length).toBeLessThan(1_100);
    // The first point is no further from the beginning than the tier allows.
    expect((times[0] ?? 0) - (end - span * minute)).toBeLessThanOrEqual(60 * minute);
  },
);
