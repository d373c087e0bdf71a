import { type Change, createTracker } from '../../sensor/bands.ts';
import { createRamp } from '../../sensor/ramp.ts';

const rules = {
  pressed: [
    { above: 0.6, forMs: 250 },
    { above: 0.4, forMs: 2000 },
  ],
  severe: [{ above: 0.9, forMs: 1000 }],
};
const clearing = { below: 0.6, forMs: 2000 };

/** Shares that last so many milliseconds each → what changed, and when. */
function run(...parts: readonly (readonly [share: number, ms: number])[]): string[] {
  const tracker = createTracker(rules, clearing);
  const changes: string[] = [];
  let now = 0;
  for (const [share, ms] of parts)
    for (let passed = 0; passed < ms; passed += 100) {
      const change: Change | undefined = tracker.take(share, now, now + 100);
      now += 100;
      if (change) changes.push(`${change.from} → ${change.to} at ${now}`);
    }
  return changes;
}

test('enters a band once its rule has held for as long as it says', () => {
  expect(run([0, 1000], [0.7, 1000])).toEqual(['calm → pressed at 1300']);
  expect(run([0.5, 3000])).toEqual(['calm → pressed at 2000']);
});

test('a peak is no band', () => {
  expect(run([0.95, 200], [0.1, 100], [0.95, 200], [0, 5000])).toEqual([]);
  expect(run([0.5, 1900], [0.3, 100], [0.5, 1900])).toEqual([]);
});

test('leaves it only well below where it began, for as long as clearing says', () => {
  // 0.36 is where the first rule's band ends.
  expect(run([0.7, 500], [0.4, 20_000])).toEqual(['calm → pressed at 300']);
  expect(run([0.7, 500], [0.3, 5000])).toEqual(['calm → pressed at 300', 'pressed → calm at 2500']);
  expect(run([0.7, 500], [0.3, 1900], [0.4, 100], [0.3, 1900])).toEqual(['calm → pressed at 300']);
});

test('goes up in one step or two, and down to where it still belongs', () => {
  expect(run([0.95, 2000])).toEqual(['calm → pressed at 300', 'pressed → severe at 1000']);
  expect(run([0.95, 2000], [0.45, 3000])).toEqual([
    'calm → pressed at 300',
    'pressed → severe at 1000',
    'severe → pressed at 4000',
  ]);
  expect(run([0.95, 2000], [0, 3000]).at(-1)).toBe('severe → calm at 4000');
});

test('one long sample counts for all the time it covers: a sensor that is starved itself is not late', () => {
  const tracker = createTracker(rules, clearing);
  tracker.take(0, 0, 100);
  expect(tracker.take(0.8, 100, 600)).toEqual({ from: 'calm', to: 'pressed', rule: rules.pressed[0] });
});

describe('utilization that climbs', () => {
  const last = (shareAt: (second: number) => number): number => {
    const ramp = createRamp();
    let predicted = 0;
    for (let second = 0; second < 30; second += 1) predicted = ramp.take(shareAt(second), second * 1000);
    return predicted;
  };
  /** Up and down by a tenth, in no order. */
  const noise = (second: number): number => 0.1 * Math.sin(second * 12.9898);

  test('is seen a minute ahead', () => {
    expect(last((second) => 0.6 + second * 0.008 + noise(second) / 5)).toBe(1);
  });

  test('busy is not climbing, and climbing from little is not busy', () => {
    expect(last((second) => 0.8 + noise(second))).toBeLessThan(0.9);
    expect(last((second) => 0.1 + second * 0.015)).toBeLessThan(0.6);
    expect(last((second) => 0.98 - second * 0.005)).toBeLessThan(0.95);
    expect(last(() => 1)).toBeLessThan(0.95);
  });
});
