import { handshake } from '../../../shared/drivers/ipmi/handshake.ts';
import { privileges } from '../../../shared/drivers/ipmi/options.ts';
import { cipherSuites } from '../../../shared/drivers/ipmi/suites.ts';
import type { Talk } from '../../../shared/drivers/ipmi/talk.ts';
import { openTransport, type Transport } from '../../../shared/drivers/ipmi/transport.ts';
import { PowerError } from '../../../shared/ports/power.ts';
import { type GoIpmi, startGoIpmi } from '../../../tools/real-stack/ipmi/go-ipmi.ts';
import { type IpmiSim, startIpmiSim } from '../../../tools/real-stack/ipmi/ipmi-sim.ts';
import { countedSessions, createIpmitool, otherSessions } from '../../../tools/real-stack/ipmi/ipmitool.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { credentials, failing, patient } from '../../drivers/harness.ts';
import { startIpmiBmc } from '../../drivers/ipmi/ipmi-bmc.ts';
import { ipmiDriver } from '../../drivers/ipmi/ipmi-harness.ts';
import { startRelay } from '../../drivers/ipmi/ipmi-relay.ts';

const guid = 'a123456789abcdefa123456789abcdef';
const verbs = [
  ['on', 'on'],
  ['soft-off', 'off'],
  ['on', 'on'],
  ['hard-off', 'off'],
] as const;

/** A session that is not closed. */
const openSession = async (port: number): Promise<Disposable & { close(): Promise<unknown> }> => {
  const line: Transport = await openTransport('127.0.0.1', port);
  const login = {
    name: 'test',
    username: Buffer.from(credentials.username),
    password: Buffer.from(credentials.password),
    kg: undefined,
    privilege: privileges.operator,
    suites: [cipherSuites[3]],
  };
  const fail: Talk['fail'] = (code, message) => new PowerError(code, message);
  const retransmit = { afterMs: 1000, tries: 4 };
  const session = await handshake({ line, login, retransmit, signal: patient(), fail }, [cipherSuites[3]]);
  return { close: () => session.close(), [Symbol.dispose]: () => line[Symbol.dispose]() };
};

describeWith(['ipmi_sim', 'ipmitool'], 'the IPMI driver on ipmi_sim', () => {
  let sim: IpmiSim;
  let ipmitool: ReturnType<typeof createIpmitool>;
  beforeAll(async () => {
    sim = await startIpmiSim({ credentials, guid });
    ipmitool = createIpmitool({ ...credentials, port: sim.port, suite: 3 });
  });
  afterAll(() => sim?.close());

  test('what the driver sets, ipmitool sees; what ipmitool sets, the driver reads', async () => {
    const driver = await ipmiDriver(sim.port);
    for (const [verb, power] of verbs) {
      await driver.set(verb, patient(), 'op-1');
      expect(await ipmitool('power', 'status')).toContain(`Chassis Power is ${power}`);
      expect((await driver.read(patient())).power).toBe(power);
    }
    for (const power of ['on', 'off'] as const) {
      await ipmitool('power', power);
      expect((await driver.read(patient())).power).toBe(power);
    }
    expect(sim.commands()).toEqual(['power 1', 'shutdown 1', 'power 1', 'power 0', 'power 1', 'power 0']);
  });

  test('the UUID that ipmitool shows is the one that the driver recognises', async () => {
    const [, systemUUID] = /System GUID\s*: (\S+)/.exec(await ipmitool('mc', 'guid')) ?? [];
    const driver = await ipmiDriver(sim.port, { spec: { systemUUID } });
    expect((await driver.read(patient())).systemUUID).toBe(systemUUID);
    const info = await ipmitool('mc', 'info');
    expect(await driver.describe?.(patient())).toMatchObject({
      manufacturer: `IANA enterprise ${/Manufacturer ID\s*: (\d+)/.exec(info)?.[1]}`,
      model: `product ${/Product ID\s*: (\d+)/.exec(info)?.[1]}`,
    });
  });

  test('boots from the network once', async () => {
    const driver = await ipmiDriver(sim.port, { options: { bootMode: 'legacy' } });
    await driver.bootFromNetwork?.(patient());
    expect(await ipmitool('chassis', 'bootparam', 'get', '5')).toContain('Force PXE');
    expect(sim.commands().at(-1)).toBe('boot pxe');
  });

  test.each([
    [{ secrets: { username: 'nobody' } }, 'auth', 'does not know the user'],
    [{ secrets: { password: 'guess' } }, 'auth', 'another password'],
    [{ secrets: { kg: 'needless' } }, 'auth', 'remove kg'],
    [{ options: { cipherSuites: [17] } }, 'config', 'no cipher suite in common'],
  ])('%j is told apart from other mistakes', async (wanted, code, says) => {
    const driver = await ipmiDriver(sim.port, wanted);
    const error = await failing(() => driver.read(patient()));
    expect(error).toMatchObject({ code, final: true, message: expect.stringContaining(says) });
  });

  test('with a Kg, and without it', async () => {
    const keyed = await startIpmiSim({ credentials, guid, kg: 'nineteen-characters' });
    try {
      const right = await ipmiDriver(keyed.port, { secrets: { kg: 'nineteen-characters' } });
      expect((await right.read(patient())).power).toBe('off');
      const none = await ipmiDriver(keyed.port);
      const error = await failing(() => none.read(patient()));
      expect(error).toMatchObject({ code: 'auth', message: expect.stringContaining('requires a key (Kg)') });
    } finally {
      await keyed.close();
    }
  });

  test('no session free: busy, and who waits gets in', async () => {
    const full = await startIpmiSim({ credentials, guid });
    const open: Awaited<ReturnType<typeof openSession>>[] = [];
    try {
      for (let session = 0; session < 63; session++) open.push(await openSession(full.port));
      const driver = await ipmiDriver(full.port);
      const error = await failing(() => driver.read(patient()));
      expect(error).toMatchObject({ code: 'busy', final: false, retryAfterMs: 30_000 });
      await open[0]?.close();
      expect((await driver.read(patient())).power).toBe('off');
    } finally {
      for (const line of open) line[Symbol.dispose]();
      await full.close();
    }
  });

  test('60 of 60 calls over a line that loses 10 % in both directions, and no session left open', async () => {
    const bmc = await startIpmiSim({ credentials, guid });
    const relay = await startRelay(bmc.port, 42, { loss: 0.1 });
    const sessions = () => otherSessions(createIpmitool({ ...credentials, port: bmc.port, suite: 3 }));
    try {
      const driver = await ipmiDriver(relay.port);
      let completed = 0;
      for (let call = 0; call < 60; call += 2) {
        const [verb, power] = call % 4 === 0 ? (['on', 'on'] as const) : (['hard-off', 'off'] as const);
        await driver.set(verb, patient(), `op-${call}`);
        expect((await driver.read(patient())).power).toBe(power);
        completed += 2;
      }
      expect(completed).toBe(60);
      expect(relay.lost / relay.packets).toBeGreaterThan(0.05);
      expect(await sessions()).toBe(0);
      // Else the zero above would say nothing.
      using open = await openSession(bmc.port);
      expect(await sessions()).toBe(1);
      await open.close();
      expect(await sessions()).toBe(0);
    } finally {
      await relay.close();
      await bmc.close();
    }
  });
});

describeWith(['go-ipmi-bmc', 'ipmitool'], 'the IPMI driver on the BMC of go-ipmi', () => {
  const users = [
    { name: credentials.username, password: credentials.password, privilege: 3 },
    { name: 'reader', password: credentials.password, privilege: 2 },
  ];
  const started: GoIpmi[] = [];
  const start = async (more: { kg?: string; suites?: readonly number[] } = {}) => {
    const bmc = await startGoIpmi({ users, guid, ...more });
    started.push(bmc);
    return bmc;
  };
  let bmc: GoIpmi;
  let ipmitool: ReturnType<typeof createIpmitool>;
  beforeAll(async () => {
    bmc = await start({ suites: [17] });
    ipmitool = createIpmitool({ ...credentials, port: bmc.port, suite: 17, privilege: 'OPERATOR' });
  }, 180_000);
  afterAll(async () => {
    for (const each of started) await each.close();
  });

  test('with suite 17, what the driver sets, ipmitool sees, and the other way round', async () => {
    const driver = await ipmiDriver(bmc.port, { options: { cipherSuites: [17] } });
    // Its soft off is a warm reset.
    for (const [verb, power] of verbs.filter(([each]) => each !== 'soft-off')) {
      await driver.set(verb, patient(), 'op-1');
      expect(await ipmitool('power', 'status')).toContain(`Chassis Power is ${power}`);
    }
    for (const power of ['on', 'off'] as const) {
      await ipmitool('power', power);
      expect((await driver.read(patient())).power).toBe(power);
    }
    expect(await countedSessions(ipmitool)).toBe(0);
  });

  test.each([
    ['uefi', 'BIOS EFI boot'],
    ['legacy', 'BIOS PC Compatible (legacy) boot'],
  ])('boots from the network once: %s', async (bootMode, shown) => {
    await (await ipmiDriver(bmc.port, { options: { bootMode } })).bootFromNetwork?.(patient());
    const flags = await ipmitool('chassis', 'bootparam', 'get', '5');
    for (const line of ['Boot Flag Valid', 'only next boot', 'Force PXE', shown])
      expect(flags).toContain(line);
  });

  test('twenty calls in a row, though it has only four sessions', async () => {
    const driver = await ipmiDriver(bmc.port);
    for (let call = 0; call < 20; call++) expect((await driver.read(patient())).power).toBe('off');
    expect(await countedSessions(ipmitool)).toBe(0);
  });

  test.each([
    [{ secrets: { password: 'guess' } }, 'another password'],
    [{ secrets: { username: 'nobody' } }, 'or no such user'],
    [{ secrets: { username: 'reader' } }, 'may not be operator'],
    [{ secrets: { username: 'reader' }, options: { privilege: 'user' } }, 'does not let user do this'],
    [{ secrets: { kg: 'needless' } }, 'remove kg'],
  ])('%j is told apart from other mistakes', async (wanted, says) => {
    const driver = await ipmiDriver(bmc.port, wanted);
    const error = await failing(() => driver.set('on', patient(), 'op-1'));
    expect(error).toMatchObject({ code: 'auth', final: true, message: expect.stringContaining(says) });
    expect(await ipmitool('power', 'status')).toContain('Chassis Power is off');
  });

  test('with a Kg of twenty bytes, and without it', async () => {
    const kg = '0123456789abcdefghij';
    const keyed = await start({ kg });
    expect((await (await ipmiDriver(keyed.port, { secrets: { kg } })).read(patient())).power).toBe('off');
    const driver = await ipmiDriver(keyed.port);
    const error = await failing(() => driver.read(patient()));
    expect(error).toMatchObject({ code: 'auth', message: expect.stringContaining('as it says itself') });
  });

  test('falls back to suite 3 where there is no 17', async () => {
    const old = await start({ suites: [3] });
    expect((await (await ipmiDriver(old.port)).read(patient())).power).toBe('off');
  });
});

describeWith(['ipmitool'], 'the BMC that the fast tests use', () => {
  test.each([3, 17])('is one to ipmitool too, with suite %i', async (suite) => {
    const bmc = await startIpmiBmc();
    try {
      const ipmitool = createIpmitool({ ...credentials, port: bmc.port, suite });
      await ipmitool('power', 'on');
      expect(await ipmitool('power', 'status')).toContain('Chassis Power is on');
      bmc.chassis.watts = 317;
      expect(await ipmitool('dcmi', 'power', 'reading')).toMatch(/Instantaneous power reading:\s+317 Watts/);
      await ipmitool('chassis', 'bootdev', 'pxe', 'options=efiboot');
      expect(bmc.chassis.bootFlags).toEqual([0xa0, 4, 0, 0, 0]);
      bmc.chassis.powerFaults = 0x08;
      expect(await ipmitool('chassis', 'status')).toMatch(/Main Power Fault\s*: true/);
      expect(bmc.openSessions).toBe(0);
    } finally {
      await bmc.close();
    }
  });
});
