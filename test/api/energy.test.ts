import { energyView } from '../../shared/view/energy.ts';
import { machine } from '../core/support/builders.ts';

const drawing = (watts: number) => [
  machine('m-1', { status: { state: 'ready', powerState: 'on' }, metrics: { watts } }),
];

test('what was drawn since the account was written counts, too', () => {
  const hour = 3_600_000;
  const account = { since: 0, at: hour, watts: 100, allOn: 300, wattHours: 1_000, wattHoursSaved: 2_000 };
  expect(energyView(account, drawing(90), hour + 6 * 60_000, 0.5)).toEqual({
    wattsNow: 90,
    wattsIfAllOn: 90,
    kWhUsed: 1.01,
    kWhSaved: 2.02,
    moneySaved: 1.01,
    since: 0,
  });
  expect(energyView(undefined, drawing(90), hour, undefined).moneySaved).toBeUndefined();
});
