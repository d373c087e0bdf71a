import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import { type Outlet, presetNames, presets } from '../../../shared/drivers/snmp-pdu/presets.ts';
import { community, type FakePdu, startPdu } from '../../../tools/real-stack/snmp-agent.ts';
import { deps, driverOf, failing, machineSpec, patient } from '../harness.ts';

let pdu: FakePdu;
beforeEach(async () => {
  pdu = await startPdu();
});
afterEach(() => pdu.close());

const credentials = async () => ({ community });
const spec = (options: object, more: Partial<MachineSpec> = {}): MachineSpec =>
  machineSpec(`127.0.0.1:${pdu.port}`, { powerInterface: 'snmp-pdu', options: { ...options }, ...more });
const driver = (options: object, more: Partial<MachineSpec> = {}) =>
  driverOf(spec(options, more), { credentials });

describe.each(presetNames)('preset %s', (name) => {
  const preset: Outlet = presets[name];
  const index = preset.within ? `${preset.within}.7` : '7';
  const at = (oid: string) => oid.replace('{outlet}', index);

  test('reads and switches the outlet by number', async () => {
    for (const { oid } of [preset.status, preset.on, preset.off]) pdu.values.set(at(oid), -1);
    const [isOn = 0] = preset.status.on;
    const [isOff = 0] = preset.status.off;
    pdu.onWrite = (oid, value) => {
      const { on, off } = preset;
      if (oid === at(on.oid) && value === on.value) pdu.values.set(at(preset.status.oid), isOn);
      if (oid === at(off.oid) && value === off.value) pdu.values.set(at(preset.status.oid), isOff);
    };
    const switched = await driver({ preset: name, outlet: 7 });
    expect(await switched.read(patient())).toEqual({ power: 'unknown' });
    await switched.set('on', patient(), 'op-1');
    expect(await switched.read(patient())).toEqual({ power: 'on' });
    await switched.set('hard-off', patient(), 'op-2');
    expect(await switched.read(patient())).toEqual({ power: 'off' });
    expect(pdu.writes).toEqual([
      { oid: at(preset.on.oid), value: preset.on.value },
      { oid: at(preset.off.oid), value: preset.off.value },
    ]);
  });

  test('never takes one state for the other', () => {
    expect(preset.status.on.filter((value) => preset.status.off.includes(value))).toEqual([]);
    expect(preset.on).not.toEqual(preset.off);
  });
});

test('an index that is given whole is taken as it is', async () => {
  pdu.values.set('1.3.6.1.4.1.13742.6.4.1.2.1.3.2.9', 7);
  expect(await (await driver({ preset: 'raritan', outlet: '2.9' })).read(patient())).toEqual({ power: 'on' });
});

test('a PDU of another make is described by its OIDs', async () => {
  const custom = {
    status: { oid: '1.3.6.1.4.1.99999.1.{outlet}.0', on: [1, 3], off: [0] },
    on: { oid: '1.3.6.1.4.1.99999.2.{outlet}', value: 5 },
    off: { oid: '1.3.6.1.4.1.99999.2.{outlet}', value: 6 },
  };
  pdu.values.set('1.3.6.1.4.1.99999.1.4.0', 3);
  pdu.values.set('1.3.6.1.4.1.99999.2.4', 0);
  const own = await driver({ custom, outlet: 4 });
  expect(await own.read(patient())).toEqual({ power: 'on' });
  await own.set('hard-off', patient(), 'op-1');
  expect(pdu.writes).toEqual([{ oid: '1.3.6.1.4.1.99999.2.4', value: 6 }]);
});

const outlet = '1.3.6.1.4.1.318.1.1.12.3.3.1.1.4.1';
const apc = { preset: 'apc', outlet: 1, retries: 0 };

describe('an answer that is none', () => {
  beforeEach(() => void pdu.values.set(outlet, 1));

  test.each([
    ['a write refused by an error', 'no-access', 'no access'],
    ['a write refused by a value', 'no-such-instance', 'can be set'],
    ['an answer about something else', 'other-oid', ''],
  ] as const)('%s', async (_, fault, told) => {
    pdu.fault = fault;
    const error = await failing(async () => (await driver(apc)).set('on', patient(), 'op-1'));
    expect(error).toMatchObject({ code: 'refused', final: false, message: expect.stringContaining(told) });
  });

  test('an outlet that is not there', async () => {
    const error = await failing(async () => (await driver({ ...apc, outlet: 24 })).read(patient()));
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('can be read') });
  });

  test('a value of another type', async () => {
    pdu.values.set(outlet, 'on');
    const error = await failing(async () => (await driver(apc)).read(patient()));
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('is no outlet') });
  });

  test('something that is not SNMP', async () => {
    pdu.fault = 'garbage';
    const error = await failing(async () => (await driver(apc)).read(patient()));
    expect(['refused', 'unreachable', 'timeout']).toContain(error.code);
  });

  test('fault 37: a wrong community is not answered; the error names the Secret, not the community', async () => {
    const strange = await driverOf(spec(apc), {
      credentials: async () => ({ community: 'canary-9f3c-wrong' }),
    });
    const error = await failing(() => strange.read(patient()));
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('mini-1-bmc') });
  });
});

test('no socket is left open, whatever came of it', async () => {
  pdu.values.set(outlet, 1);
  const switched = await driver(apc);
  await switched.read(patient());
  pdu.fault = 'no-access';
  await failing(() => switched.set('on', patient(), 'op-1'));
  pdu.fault = 'no-such-instance';
  await failing(() => switched.read(patient()));
  pdu.fault = 'silent';
  await failing(() => switched.read(AbortSignal.timeout(50)));
  expect(pdu.clients.size).toBe(4);
  // A port that somebody still has cannot be had.
  for (const port of pdu.clients) {
    const socket = createSocket('udp4');
    socket.bind(port);
    await once(socket, 'listening');
    socket.close();
  }
});

describe('a mistake to mend', () => {
  test.each([
    ['neither preset nor custom', { outlet: 1 }, {}, 'preset'],
    ['no outlet', { preset: 'apc' }, {}, 'outlet'],
    ['no credentials', apc, { bmcCredentials: undefined }, 'credentials'],
    ['no address', apc, { mgmtAddress: undefined }, 'address'],
    ['fault 36: an address that is an option', apc, { mgmtAddress: '-oProxy' }, 'address'],
    ['fault 36: an address that is a command', apc, { mgmtAddress: 'pdu;reboot' }, 'address'],
    ['a user in the address', apc, { mgmtAddress: 'snmp://me@pdu' }, 'address'],
    ['a web address', apc, { mgmtAddress: 'https://pdu' }, 'address'],
    ['fault 36: an outlet that leaves its place', { preset: 'apc', outlet: '1.3.6/../x' }, {}, 'outlet'],
  ])('%s', async (_, options, more, told) => {
    const error = await failing(() => driver(options, more));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(told) });
  });

  test.each([
    ['no community', '2c', {}, 'community'],
    ['no user', '3', { authKey: 'canary-9f3c' }, 'username'],
    ['encryption without authentication', '3', { username: 'u', privKey: 'canary-9f3c' }, 'without authKey'],
    ['a short key', '3', { username: 'u', authKey: 'canary' }, 'fewer than 8'],
  ])('in the credentials: %s', async (_, version, secret, told) => {
    const switched = await driverOf(spec({ ...apc, version }), { credentials: async () => secret });
    const error = await failing(() => switched.read(patient()));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(told) });
  });
});

test('only the address that was resolved and checked is talked to', async () => {
  pdu.values.set(outlet, 2);
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return '127.0.0.1';
  };
  const named = spec(apc, { mgmtAddress: `pdu.example:${pdu.port}` });
  expect(await (await driverOf(named, { ...deps, credentials, resolve })).read(patient())).toEqual({
    power: 'off',
  });
  expect(asked).toEqual(['pdu.example']);
});
