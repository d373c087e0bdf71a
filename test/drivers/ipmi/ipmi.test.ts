import { patient } from '../harness.ts';
import { type IpmiBmc, type IpmiBmcOptions, startIpmiBmc } from './ipmi-bmc.ts';
import { ipmiDriver } from './ipmi-harness.ts';

let bmc: IpmiBmc;
const start = async (options: IpmiBmcOptions = {}) => {
  bmc = await startIpmiBmc(options);
  return bmc;
};
afterEach(async () => {
  // Whatever a test did: no session is left behind.
  expect(bmc.openSessions).toBe(0);
  await bmc.close();
});

const login = ['06.38', 'open', 'rakp1', 'rakp3', '06.3b'];
const uuid = '00112233-4455-6677-8899-aabbccddeeff';

test.each([17, 3])('reads and sets with cipher suite %i, one session a call, closed', async (suite) => {
  const { port, chassis, received } = await start({ suites: [suite] });
  const driver = await ipmiDriver(port, { options: { cipherSuites: [suite] } });
  expect(await driver.read(patient())).toEqual({ power: 'off', systemUUID: uuid });
  expect(received).toEqual([...login, '00.01', '06.37', '06.3c']);
  await driver.set('on', patient(), 'op-1');
  expect(received.slice(8)).toEqual([...login, '00.02', '06.3c']);
  expect((await driver.read(patient())).power).toBe('on');
  await driver.set('soft-off', patient(), 'op-2');
  await driver.set('on', patient(), 'op-3');
  await driver.set('hard-off', patient(), 'op-4');
  expect(chassis.controls).toEqual([1, 5, 1, 0]);
  expect(bmc.closedSessions).toBe(6);
});

test('suite 17 is asked for first; 3 is used where the BMC says that it does not know 17', async () => {
  const { port, received } = await start({ suites: [3] });
  expect((await (await ipmiDriver(port)).read(patient())).power).toBe('off');
  expect(received.slice(0, 4)).toEqual(['06.38', 'open', 'open', 'rakp1']);
});

test('with the key Kg, as text and as hexadecimal digits', async () => {
  const { port } = await start({ kg: 'twenty-bytes-of-key!' });
  for (const kg of ['twenty-bytes-of-key!', `0x${Buffer.from('twenty-bytes-of-key!').toString('hex')}`])
    expect((await (await ipmiDriver(port, { secrets: { kg } })).read(patient())).power).toBe('off');
});

test('on when on and off when off are no failure where the BMC refuses them', async () => {
  const { port, chassis } = await start();
  chassis.strict = true;
  const driver = await ipmiDriver(port);
  await driver.set('hard-off', patient(), 'op-1');
  await driver.set('on', patient(), 'op-2');
  await driver.set('on', patient(), 'op-3');
  expect(chassis.controls).toEqual([1]);
});

test.each([
  ['as SMBIOS has it', '00112233-4455-6677-8899-aabbccddeeff'],
  ['as it is', '33221100-5544-7766-8899-aabbccddeeff'],
  ['turned around, in capitals', 'FFEEDDCC-BBAA-9988-6677-445500112233'],
])('a system UUID is known in whatever order the BMC has its bytes: %s', async (_, systemUUID) => {
  const { port } = await start();
  const reading = await (await ipmiDriver(port, { spec: { systemUUID } })).read(patient());
  expect(reading.systemUUID).toBe(systemUUID.toLowerCase());
});

test('the UUID of another machine stays another', async () => {
  const { port } = await start();
  const systemUUID = '99999999-4455-6677-8899-aabbccddeeff';
  expect((await (await ipmiDriver(port, { spec: { systemUUID } })).read(patient())).systemUUID).toBe(uuid);
});

test('a BMC that does not tell its GUID, or tells zeros, is read without', async () => {
  const { port, chassis } = await start();
  chassis.guid.fill(0);
  expect(await (await ipmiDriver(port)).read(patient())).toEqual({ power: 'off', systemUUID: undefined });
  await bmc.close();
  const silent = await start({ completions: { '06.37': 0xc1 } });
  expect((await (await ipmiDriver(silent.port)).read(patient())).systemUUID).toBeUndefined();
});

test.each([
  ['uefi', [0xa0, 4, 0, 0, 0]],
  ['legacy', [0x80, 4, 0, 0, 0]],
])('boots from the network once: %s', async (bootMode, flags) => {
  const { port, chassis } = await start({ completions: { '00.99': 0 } });
  await (await ipmiDriver(port, { options: { bootMode } })).bootFromNetwork?.(patient());
  expect(chassis.bootFlags).toEqual(flags);
});

test('watts and faults are sensed', async () => {
  const { port, chassis } = await start();
  const driver = await ipmiDriver(port);
  expect(await driver.sense?.(patient())).toEqual({ watts: undefined, health: 'ok', problems: [] });
  Object.assign(chassis, { watts: 317, powerFaults: 0x08, otherFaults: 0x08 });
  expect(await driver.sense?.(patient())).toEqual({
    watts: 317,
    health: 'critical',
    problems: ['main power fault', 'cooling or fan fault'],
  });
  // Fault bits say nothing about the power.
  expect((await driver.read(patient())).power).toBe('off');
});

test('a machine is described', async () => {
  const { port } = await start();
  expect(await (await ipmiDriver(port)).describe?.(patient())).toEqual({
    systemUUID: uuid,
    manufacturer: 'IANA enterprise 343',
    model: 'product 4660',
    macAddresses: [],
  });
});
