import { readdirSync } from 'node:fs';
import { driverFor, drivers } from '../../shared/drivers/index.ts';
import { deps, failing, machineSpec } from './harness.ts';

const names = Object.keys(drivers).sort();

test('every file of shared/drivers is registered under its name, and nothing else is', () => {
  const files = readdirSync(new URL('../../shared/drivers/', import.meta.url))
    .filter((file) => file !== 'index.ts')
    .map((file) => file.replace(/\.ts$/, ''));
  expect(files.sort()).toEqual(names);
});

test('an unknown powerInterface is a mistake to mend, and the error lists what there is', async () => {
  const error = await failing(async () =>
    driverFor(machineSpec('https://10.0.0.5', { powerInterface: 'redfsh' }), deps),
  );
  expect(error).toMatchObject({ code: 'config', final: true });
  expect(error.message).toContain('mini-1: no power driver is called redfsh');
  for (const name of names) expect(error.message).toContain(name);
});
