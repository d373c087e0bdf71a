import { folded } from '../../console/folded.ts';
import { densityOf, layoutOf, shortNames } from '../../console/racks.ts';
import { scoreText } from '../../console/scores.ts';
import { buckets } from '../../console/trend.ts';
import type { DecisionSummary, MachineView } from '../../shared/view/shapes.ts';

const machine = (name: string, rackUnit?: number, rackHeight?: number): MachineView =>
  ({ name, rackUnit, rackHeight }) as MachineView;

test('machines stand at their units, counted from the bottom; those without one come below', () => {
  const { rows, numbered, slots } = layoutOf([machine('low', 1), machine('tall', 4, 3), machine('loose')]);
  expect([rows, numbered]).toEqual([7, true]);
  expect(slots.map(({ machine: { name }, row, rows: taken }) => [name, row, taken])).toEqual([
    ['low', 6, 1],
    ['tall', 1, 3],
    ['loose', 7, 1],
  ]);
});

test('without units machines stand in order', () => {
  const { rows, numbered, slots } = layoutOf([machine('a'), machine('b')]);
  expect([rows, numbered, slots.map(({ row }) => row)]).toEqual([2, false, [1, 2]]);
});

test('the more there is, the less a machine says', () => {
  const details = [densityOf(16, 8), densityOf(16, 18), densityOf(200, 40), densityOf(1_000, 40)];
  expect(details.map(({ detail }) => detail)).toEqual(['full', 'line', 'name', 'colour']);
});

test('names lose what all of a rack share, and keep what tells them apart', () => {
  const names = ['dc1-row7-node-0001', 'dc1-row7-node-0002'];
  expect([...shortNames(names, 30).values()]).toEqual(names);
  expect([...shortNames(names, 10).values()]).toEqual(['0001', '0002']);
  expect([...shortNames(['a-name-without-any-other'], 8).values()]).toEqual(['…y-other']);
});

test('runs of decisions with nothing to do are folded', () => {
  const decision = (id: string, intents: number, unmet = 0): DecisionSummary => ({
    id,
    at: 0,
    summary: '',
    powerOn: [],
    drain: [],
    intents,
    unmet,
  });
  const entries = folded([
    decision('a', 0),
    decision('b', 1),
    decision('c', 0),
    decision('d', 0),
    decision('e', 0, 2),
  ]);
  expect(
    entries.map((entry) => (entry.kind === 'one' ? entry.decision.id : entry.decisions.map(({ id }) => id))),
  ).toEqual([['a'], 'b', ['c', 'd'], 'e']);
});

test.each([
  ['wear', 0, 'off for 2 h'],
  ['boot-time', 118_000, 'boots in 1 min 58 s'],
  ['diversity', 30_000_200_001, 'on already: 3 in its zone, 2 in its rack, 1 on its circuit'],
  ['waste', 0.18, '18 % unused'],
  ['priority', -10, 'priority 10'],
])('a score of %s in its own unit', (policy, score, text) => {
  expect(scoreText(policy, score, 7_200_000)).toBe(text);
});

test('counters are summed into bars of equal width', () => {
  const { at, sums } = buckets({ from: 0, to: 48, at: [0, 0.5, 47, 48], series: { n: [1, 2, null, 4] } }, [
    'n',
    'none',
  ]);
  expect(at).toHaveLength(48);
  expect([sums[0]?.[0], sums[0]?.[47], sums[1]?.[0]]).toEqual([3, 4, 0]);
});
