import { insecurity, insecurityWarning } from '../../shared/drivers/common/warning.ts';
import { machineSpec } from './harness.ts';

const unchecked = { tls: { insecure: true } };

test.each<[string, Parameters<typeof machineSpec>, RegExp | undefined]>([
  ['a certificate that is not checked', ['https://10.0.0.5', { options: unchecked }], /not checked/],
  ['a password in the clear', ['http://10.0.0.5'], /in the clear/],
  ['a CA', ['https://10.0.0.5', { options: { tls: { caFile: 'ca.pem' } } }], undefined],
  ['no options', ['https://10.0.0.5'], undefined],
  ['plain HTTP without a password', ['http://10.0.0.5', { bmcCredentials: undefined }], undefined],
  ['plain HTTP on this computer', ['http://127.0.0.1:8000'], undefined],
  ['no URL', ['10.0.0.5'], undefined],
])('%s', (_, spec, why) => {
  const said = insecurity(machineSpec(...spec));
  if (why) expect(said).toMatch(why);
  else expect(said).toBeUndefined();
});

test('each machine is warned of once, and again when it is so again', () => {
  const told: string[] = [];
  const warn = insecurityWarning((machine) => told.push(machine));
  const spec = machineSpec('https://10.0.0.5', { options: unchecked });
  for (const one of [spec, spec, { ...spec, name: 'mini-2' }, spec]) warn(one);
  expect(told).toEqual(['mini-1', 'mini-2']);
  warn({ ...spec, options: {} });
  warn(spec);
  expect(told).toEqual(['mini-1', 'mini-2', 'mini-1']);
});
