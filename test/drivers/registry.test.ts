import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { loadDriver } from '../../shared/drivers/index.ts';
import { driverNames } from '../../shared/schema/driver-names.ts';
import { driverOf, failing, machineSpec } from './harness.ts';

const names = [...driverNames].sort();

test('every file and folder of shared/drivers is registered under its name, and nothing else is', () => {
  const files = readdirSync(new URL('../../shared/drivers/', import.meta.url))
    .filter((file) => !['index.ts', 'check-options.ts', 'common'].includes(file))
    .map((file) => file.replace(/\.ts$/, ''));
  expect(files.sort()).toEqual(names);
});

test('an unknown powerInterface is a mistake to mend, and the error lists what there is', async () => {
  const error = await failing(() => driverOf(machineSpec('https://10.0.0.5', { powerInterface: 'redfsh' })));
  expect(error).toMatchObject({ code: 'config', final: true });
  expect(error.message).toContain('mini-1: no power driver is called redfsh');
  for (const name of names) expect(error.message).toContain(name);
});

test.each(names)('%s says of each option what it means', async (name) => {
  const { options } = await loadDriver(name);
  const { properties } = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' });
  const silent = Object.entries(properties ?? {}).filter(([, field]) => !Object(field).description);
  expect(silent.map(([option]) => option)).toEqual([]);
  expect(properties).toBeDefined();
});
