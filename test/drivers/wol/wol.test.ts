import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import type { DriverDeps, NodeEvidence } from '../../../shared/ports/power.ts';
import { deps, driverOf, failing, machineSpec, patient } from '../harness.ts';
import { login, startPlug } from '../http/http-plugs.ts';
import { loopbackBroadcast, type SleepingHost, startSleepingHost } from './wol-host.ts';

const macAddress = '52:54:00:12:34:56';
const secureOn = { text: 'ca:fe:ca:fe:ca:fe', bytes: Buffer.from('cafecafecafe', 'hex') };

let host: SleepingHost;
beforeEach(async () => {
  host = await startSleepingHost(macAddress);
});
afterEach(() => host.close());

const spec = (options: object = {}, more: Partial<MachineSpec> = {}): MachineSpec =>
  machineSpec('', {
    powerInterface: 'wol',
    macAddress,
    mgmtAddress: undefined,
    bmcCredentials: undefined,
    options: { broadcast: loopbackBroadcast, port: host.port, ...options },
    ...more,
  });
const instantly: DriverDeps['clock'] = { ...deps.clock, sleep: async () => undefined };
const on = async (options: object = {}, more: Partial<MachineSpec> = {}, given: Partial<DriverDeps> = {}) => {
  const driver = await driverOf(spec(options, more), { clock: instantly, ...given });
  await driver.set('on', patient(), 'op-1');
};
const received = async (count: number) => {
  for (let tries = 0; host.packets.length < count && tries < 500; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return host.packets.map((packet) => packet.length);
};

test('three packets by default, as many as asked for otherwise', async () => {
  await on();
  expect(await received(3)).toEqual([102, 102, 102]);
  await on({ repeat: 5 });
  expect(await received(8)).toHaveLength(8);
});

test('with credentials, the SecureOn password goes along', async () => {
  const credentials = async () => ({ secureOn: secureOn.text });
  await on({ repeat: 1 }, { bmcCredentials: 'mini-1-wol' }, { credentials });
  expect(await received(1)).toEqual([108]);
  expect(host.packets[0]?.subarray(102)).toEqual(secureOn.bytes);
});

test('fault 37: a SecureOn password that is none is told without being shown', async () => {
  const credentials = async () => ({ secureOn: 'canary-9f3c' });
  const error = await failing(() => on({}, { bmcCredentials: 'mini-1-wol' }, { credentials }));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('mini-1-wol') });
  const missing = await failing(() =>
    on({}, { bmcCredentials: 'mini-1-wol' }, { credentials: async () => ({}) }),
  );
  expect(missing.message).toContain('have no secureOn');
  expect(host.packets).toEqual([]);
});

test('without a companion nothing powers it off, and it says so', async () => {
  const driver = await driverOf(spec());
  expect(driver.capabilities).toMatchObject({ status: false, softOff: false, hardOff: false });
  const error = await failing(() => driver.set('soft-off', patient(), 'op-1'));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('set wol.off') });
});

test.each([
  ['no address', { macAddress: undefined }, {}, 'macAddress'],
  ['two companions', {}, { off: { http: { preset: 'tasmota' }, job: {} } }, 'name one of'],
  ['no companion in off', {}, { off: {} }, 'name one of'],
  ['an unknown companion', {}, { off: { ssh: {} } }, 'ssh'],
  [
    'a companion with wrong options',
    {},
    { off: { http: { preset: 'shely', url: 'http://plug' } } },
    'preset',
  ],
  ['a companion without an address', {}, { off: { http: { preset: 'shelly' } } }, 'wol.off.http'],
  ['fault 36: an interface that is a command', {}, { interface: 'eth0; reboot' }, 'interface'],
  ['fault 36: a broadcast address that is none', {}, { broadcast: '$(reboot)' }, 'broadcast'],
  ['a host name as broadcast address', {}, { broadcast: 'localhost' }, 'broadcast'],
])('a mistake to mend: %s', async (_, more, options, told) => {
  const error = await failing(() => driverOf(spec(options, more)));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(told) });
});

test('an interface that is not there is a mistake to mend', async () => {
  const error = await failing(() => on({ broadcast: undefined, interface: 'nosuch0' }));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('wol.interface') });
});

describe('with a smart plug', () => {
  const running: NodeEvidence = { node: 'mini-1', ready: true, heartbeatAgeMs: 1_000, addresses: [] };
  const gone = undefined;

  test.each([
    ['no current and no node: it is off, proven', 'off', gone, { power: 'off' }],
    ['current, and its node runs: it is on', 'on', running, { power: 'on' }],
    ['current, but no node: off is inferred', 'on', gone, { power: 'off', inferred: true }],
    ['no current, yet its node runs: that is another plug', 'off', running, { power: 'unknown' }],
  ] as const)('%s', async (_, plugPower, node, reading) => {
    await using plug = await startPlug('tasmota');
    plug.power = plugPower;
    const off = { http: { preset: 'tasmota', url: plug.url } };
    const driver = await driverOf(spec({ off }), { nodeOf: async () => node });
    expect(await driver.read(patient())).toEqual(reading);
  });

  test('power on switches the plug on before the packet goes out; power off is a cut, never soft', async () => {
    await using plug = await startPlug('shelly-gen1');
    const off = { http: { preset: 'shelly-gen1', url: plug.url } };
    const driver = await driverOf(spec({ off }), { clock: instantly });
    expect(driver.capabilities).toMatchObject({ status: true, softOff: false, hardOff: true });
    await driver.set('on', patient(), 'op-1');
    expect(plug.power).toBe('on');
    expect(await received(3)).toHaveLength(3);
    expect((await failing(() => driver.set('soft-off', patient(), 'op-2'))).code).toBe('config');
    expect(plug.power).toBe('on');
    await driver.set('hard-off', patient(), 'op-2');
    expect(plug.power).toBe('off');
  });

  test('the packet’s password is not the plug’s: that names its own', async () => {
    await using plug = await startPlug('tasmota', { secured: true });
    const asked: string[] = [];
    const credentials = async (name: string) => {
      asked.push(name);
      return name === 'plug' ? login : { secureOn: secureOn.text };
    };
    const http = { preset: 'tasmota', url: plug.url };
    const withPlug = (more: object) =>
      driverOf(spec({ off: { http: { ...http, ...more } } }, { bmcCredentials: 'mini-1-wol' }), {
        credentials,
      });
    expect((await failing(async () => (await withPlug({})).read(patient()))).code).toBe('auth');
    expect(asked).toEqual([]);
    const driver = await withPlug({ credentials: 'plug' });
    expect(await driver.read(patient())).toEqual({ power: 'off' });
    expect(asked).toEqual(['plug']);
  });

  test('a plug that does not switch sends no packet', async () => {
    await using plug = await startPlug('tasmota');
    plug.fault = 'broken';
    const off = { http: { preset: 'tasmota', url: plug.url } };
    const driver = await driverOf(spec({ off }), { clock: instantly });
    expect((await failing(() => driver.set('on', patient(), 'op-1'))).code).toBe('refused');
    expect(host.packets).toEqual([]);
  });
});
