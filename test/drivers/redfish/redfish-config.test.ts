import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PowerError } from '../../../shared/ports/power.ts';
import { type Bmc, startBmc } from '../../../simulator/lab/rack/bmc.ts';
import { manualClock } from '../../../simulator/lab/rack/clock.ts';
import { SimulatedMachine } from '../../../simulator/lab/rack/machine.ts';
import { type CertificateAuthority, makeAuthority } from '../../../tools/real-stack/certificates.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { newFolder } from '../../support/cleanup.ts';
import { credentials, deps, driverOf, failing, machineSpec, patient } from '../harness.ts';

describe('what is written down wrongly', () => {
  const wrong = (more: Parameters<typeof machineSpec>[1]) =>
    failing(() => driverOf(machineSpec('https://10.0.0.5', more)));

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown option', { sytem: '/redfish/v1/Systems/1' }, 'sytem'],
    ['a system that is no path', { system: 'Systems/1' }, 'system'],
    ['tls without anything', { tls: {} }, 'set one of caFile, fingerprint and insecure\n  → at tls'],
    ['tls switched off beside a CA', { tls: { caFile: 'ca.pem', insecure: true } }, 'at tls'],
    ['half a fingerprint', { tls: { fingerprint: 'sha256:00ff' } }, 'at tls.fingerprint'],
    ['an auth of its own', { auth: 'none' }, 'at auth'],
    ['a boot mode of its own', { bootMode: 'uefi' }, 'at bootMode'],
  ])('%s is refused by name', async (_, options, named) => {
    const error = await wrong({ options });
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toMatch(/^mini-1: its redfish options are wrong/);
    expect(error.message).toContain(named);
  });

  test('no mgmtAddress', async () => {
    const error = await wrong({ mgmtAddress: undefined });
    expect(error.message).toBe('mini-1: powerInterface redfish needs mgmtAddress, such as https://10.0.0.5');
  });

  test('a password in mgmtAddress', async () => {
    const { username, password } = await deps.credentials('');
    const error = await wrong({ mgmtAddress: `https://${username}:${password}@10.0.0.5` });
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('use bmcCredentials') });
  });

  test('credentials that cannot be had are told as they are', async () => {
    const missing = new PowerError('config', 'credentials x have no readable file password');
    const driver = await driverOf(machineSpec('http://127.0.0.1:1'), {
      credentials: () => Promise.reject(missing),
    });
    expect(await failing(() => driver.read(patient()))).toBe(missing);
  });
});

describeWith(['openssl'], 'TLS', () => {
  const folder = newFolder();
  let authority: CertificateAuthority;
  let bmc: Bmc;
  beforeAll(async () => {
    authority = makeAuthority(folder);
    const { key, cert } = authority.issueServer('bmc');
    const { username: user, password } = credentials;
    const machine = new SimulatedMachine(
      { name: 'mini-1', cpu: 4, memory: '8Gi', credentials: { user, password } },
      manualClock(),
    );
    bmc = await startBmc(machine, {
      tls: { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') },
    });
  });
  afterAll(async () => {
    await bmc.close();
  });

  const read = async (options?: Record<string, unknown>) =>
    (await driverOf(machineSpec(bmc.url, { options }))).read(patient());

  test('the CA of the option is trusted', async () => {
    expect(await read({ tls: { caFile: authority.cert } })).toMatchObject({ power: 'off' });
  });

  test('a CA that nobody named is not, and the error says what to set', async () => {
    const error = await failing(() => read());
    expect(error).toMatchObject({ code: 'unreachable', final: false });
    expect(error.message).toMatch(
      /\(UNABLE_TO_\w+\)\. Set redfish\.tls\.caFile to the CA of its certificate, or redfish\.tls\.fingerprint/,
    );
  });

  test('nor is another CA', async () => {
    const other = mkdtempSync(join(folder, 'other-'));
    const error = await failing(() => read({ tls: { caFile: makeAuthority(other).cert } }));
    expect(error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('redfish.tls.caFile'),
    });
  });

  test('a CA file that is not there is a mistake to mend', async () => {
    const error = await failing(() => read({ tls: { caFile: join(folder, 'nowhere.pem') } }));
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toMatch(/^mini-1: redfish\.tls\.caFile cannot be read: ENOENT/);
  });
});
