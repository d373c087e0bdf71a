import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PowerDriver } from '../../../shared/ports/power.ts';
import { type CertificateAuthority, makeAuthority } from '../../../tools/real-stack/certificates.ts';
import { ensureSushy, type Sushy, startSushy, sushySystem } from '../../../tools/real-stack/sushy.ts';
import { waitFor } from '../../../tools/real-stack/wait.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { credentials, failing, machineSpec, driverOf as makeDriver, patient } from '../../drivers/harness.ts';
import { newFolder } from '../../support/cleanup.ts';

const alone = '11111111-1111-4111-8111-111111111111';
const first = '22222222-2222-4222-8222-222222222222';
const second = '33333333-3333-4333-8333-333333333333';

describeWith(['python3', 'openssl'], 'the Redfish driver on sushy-emulator', () => {
  const folder = newFolder();
  let authority: CertificateAuthority;
  let single: Sushy;
  let double: Sushy;
  beforeAll(async () => {
    authority = makeAuthority(folder);
    const start = (...systems: string[]) => startSushy({ authority, credentials, systems });
    single = await start(alone);
    double = await start(first, second);
  });
  afterAll(async () => {
    await single?.close();
    await double?.close();
  });

  interface Wanted {
    readonly system?: string;
    readonly caFile?: string;
    readonly password?: string;
  }
  const driverOf = ({ url }: Sushy, { system, caFile, password }: Wanted = {}): Promise<PowerDriver> => {
    const options = { tls: { caFile: caFile ?? authority.cert }, ...(system && { system }) };
    return makeDriver(machineSpec(url, { options }), {
      credentials: async () => ({ ...credentials, ...(password && { password }) }),
    });
  };
  const power = async (driver: PowerDriver) => (await driver.read(patient())).power;
  const becomes = (driver: PowerDriver, wanted: string) =>
    waitFor(`power is ${wanted}`, async () => (await power(driver)) === wanted || undefined, {
      everyMs: 500,
    });

  test('on, on when on, soft off, off when off, hard off', async () => {
    const driver = await driverOf(single);
    expect(await driver.read(patient())).toMatchObject({ power: 'off', systemUUID: alone });
    await driver.set('on', patient(), 'op-1');
    await becomes(driver, 'on');
    await driver.set('on', patient(), 'op-1');
    expect(await power(driver)).toBe('on');
    await driver.set('soft-off', patient(), 'op-1');
    await becomes(driver, 'off');
    await driver.set('soft-off', patient(), 'op-1');
    expect(await power(driver)).toBe('off');
    await driver.set('on', patient(), 'op-1');
    await becomes(driver, 'on');
    await driver.set('hard-off', patient(), 'op-1');
    await becomes(driver, 'off');
  });

  test('of two systems none is picked by itself; the option picks one and leaves the other alone', async () => {
    const unsure = await failing(async () => (await driverOf(double)).set('on', patient(), 'op-1'));
    expect(unsure).toMatchObject({ code: 'config', final: true });
    for (const uuid of [first, second]) expect(unsure.message).toContain(sushySystem(uuid));

    const one = await driverOf(double, { system: sushySystem(first) });
    const other = await driverOf(double, { system: sushySystem(second) });
    await one.set('on', patient(), 'op-1');
    await becomes(one, 'on');
    expect(await power(other)).toBe('off');
  });

  test('a system by its name is a redirect, which is not followed', async () => {
    const error = await failing(async () =>
      (await driverOf(double, { system: sushySystem('system-1') })).read(patient()),
    );
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('redfish options') });
  });

  test('a system that is not there is refused', async () => {
    const error = await failing(async () =>
      (await driverOf(double, { system: sushySystem(alone) })).read(patient()),
    );
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('404') });
  });

  test('a wrong password is final', async () => {
    const error = await failing(async () =>
      (await driverOf(single, { password: 'guess' })).set('on', patient(), 'op-1'),
    );
    expect(error).toMatchObject({ code: 'auth', final: true });
  });

  test('a boot from the network that it does not keep to once is found out', async () => {
    const driver = await driverOf(single);
    const error = await failing(async () => driver.bootFromNetwork?.(patient()));
    // The emulator takes the target, and shows Continuous whatever it is told.
    expect(error.message).toContain('took BootSourceOverrideEnabled Once and shows "Continuous"');
  });

  test('what machine it is, and how it feels', async () => {
    const driver = await driverOf(single);
    expect(await driver.describe?.(patient())).toMatchObject({
      systemUUID: alone,
      macAddresses: ['52:54:00:00:00:00'],
    });
    expect(await driver.sense?.(patient())).toMatchObject({ health: 'ok', problems: [] });
  });

  test('its certificate may be pinned instead of its CA', async () => {
    const read = async (fingerprint: string) =>
      (await makeDriver(machineSpec(single.url, { options: { tls: { fingerprint } } }))).read(patient());
    const error = await failing(() => read(`sha256:${'00'.repeat(32)}`));
    expect(error).toMatchObject({ code: 'config', final: true });
    const shown = /it shows (sha256:[0-9a-f]{64})/.exec(error.message)?.[1] ?? '';
    expect((await read(shown)).systemUUID).toBe(alone);
  });

  test('a certificate of an unknown authority is not accepted', async () => {
    const other = join(folder, 'other');
    mkdirSync(other);
    const driver = await driverOf(single, { caFile: makeAuthority(other).cert });
    const error = await failing(() => driver.read(patient()));
    expect(error).toMatchObject({ code: 'unreachable', final: false });
    expect(error.message).toContain('Set redfish.tls.caFile');
  });
});

test('without Python the error says what to install', async () => {
  const nothing = newFolder();
  const before = { PATH: process.env.PATH, XDG_CACHE_HOME: process.env.XDG_CACHE_HOME };
  Object.assign(process.env, { PATH: nothing, XDG_CACHE_HOME: nothing });
  const lines: string[] = [];
  try {
    await expect(ensureSushy((line) => lines.push(line))).rejects.toThrow('apt-get install python3-venv');
  } finally {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
  expect(lines).toEqual([expect.stringContaining('installing sushy-tools 2.2.0')]);
});
