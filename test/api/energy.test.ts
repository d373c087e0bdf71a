import { createEnergyView } from '../../shared/view/energy.ts';
import { machine } from '../core/support/builders.ts';

const drawing = (watts: number) => [
  machine('m-1', { status: { state: 'ready', powerState: 'on' }, metrics: { watts } }),
];

test('what machines draw is kept as it changes, also while nobody looks, and not too often', () => {
  const energy = createEnergyView(0.3);
  energy.note(() => drawing(60), 10_000);
  energy.note(() => drawing(70), 10_500);
  energy.note(() => drawing(80), 12_000);
  const { series, wattsNow } = energy.look(undefined, drawing(90), 14_000);
  expect(series.map(({ at, watts }) => [at, watts])).toEqual([
    [10_000, 60],
    [12_000, 80],
    [14_000, 90],
  ]);
  expect(wattsNow).toBe(90);
});
