import { addEnergy } from '../../shared/core/energy/energy-saved.ts';
import { machine, minute } from './support/builders.ts';

const at = (name: string, powerState: 'on' | 'off', made = false) =>
  machine(name, { spec: { watts: { idle: 100, max: 300 }, made }, status: { powerState } });

test('what is off saves what it would idle with; what is on draws', () => {
  const rack = [at('a', 'on'), at('b', 'off')];
  const first = addEnergy(undefined, rack, 0);
  expect(first).toMatchObject({ watts: 200, allOn: 300, wattHours: 0, wattHoursSaved: 0 });
  expect(addEnergy(first, rack, 6 * minute)).toMatchObject({ wattHours: 20, wattHoursSaved: 10 });
});

test('a measured draw counts more than a declared one', () => {
  const measured = { ...at('a', 'on'), metrics: { watts: 123 } };
  expect(addEnergy(undefined, [measured], 0)).toMatchObject({ watts: 123, allOn: 123 });
});

test('nothing is claimed for time that nobody watched, nor for a clock that went back', () => {
  const rack = [at('a', 'off')];
  const first = addEnergy(undefined, rack, 0);
  expect(addEnergy(first, rack, 60 * minute).wattHoursSaved).toBe(0);
  expect(addEnergy(addEnergy(undefined, rack, 10 * minute), rack, 0).wattHoursSaved).toBe(0);
});

test('what is made on demand saves nothing while it is not there', () => {
  expect(addEnergy(undefined, [at('vm', 'off', true)], 0)).toMatchObject({ watts: 0, allOn: 0 });
});
