import { eventually } from '../../../tools/support/eventually.ts';
import { closing } from '../../support/cleanup.ts';
import { credentials, failing, patient } from '../harness.ts';
import { type IpmiBmcOptions, startIpmiBmc } from './ipmi-bmc.ts';
import { type IpmiWanted, ipmiDriver } from './ipmi-harness.ts';

interface Case {
  readonly name: string;
  readonly bmc?: IpmiBmcOptions;
  readonly wanted?: IpmiWanted;
  readonly code: string;
  readonly says: string;
}

const cases: readonly Case[] = [
  {
    name: 'a user that the BMC does not know',
    wanted: { secrets: { username: 'nobody' } },
    code: 'auth',
    says: 'does not know the user',
  },
  {
    name: 'a wrong password',
    wanted: { secrets: { password: 'guess' } },
    code: 'auth',
    says: 'has another password',
  },
  {
    name: 'no Kg where the BMC has one',
    bmc: { kg: 'key' },
    code: 'auth',
    says: 'requires a key (Kg) besides the password, as it says itself. Add kg to mini-1-bmc',
  },
  {
    name: 'a wrong Kg',
    bmc: { kg: 'key' },
    wanted: { secrets: { kg: 'guess' } },
    code: 'auth',
    says: 'is right, its kg is not that of the BMC. Correct kg',
  },
  {
    name: 'a Kg where the BMC has none',
    wanted: { secrets: { kg: 'needless' } },
    code: 'auth',
    says: 'it has none: remove kg',
  },
  {
    name: 'no cipher suite in common',
    bmc: { suites: [] },
    code: 'config',
    says: 'no cipher suite in common with us (tried 17, 3)',
  },
  {
    name: 'a user who may only read',
    bmc: { privilege: 2 },
    code: 'auth',
    says: 'may not be operator',
  },
  {
    name: 'a privilege that the session does not get',
    bmc: { completions: { '06.3b': 0x81 } },
    code: 'auth',
    says: 'may not be operator',
  },
  {
    name: 'a command that needs more privilege',
    bmc: { completions: { '00.02': 0xd4 } },
    wanted: { options: { privilege: 'user' } },
    code: 'auth',
    says: 'does not let user do this: power on',
  },
  { name: 'no free session', bmc: { mostSessions: 0 }, code: 'busy', says: 'no free session' },
  { name: 'a busy BMC', bmc: { completions: { '00.02': 0xc0 } }, code: 'busy', says: 'is busy' },
  {
    name: 'a BMC that updates its firmware',
    bmc: { completions: { '00.02': 0xd1 } },
    code: 'busy',
    says: 'updates its firmware',
  },
  {
    name: 'a command that the BMC does not do',
    bmc: { completions: { '00.02': 0xc1 } },
    code: 'refused',
    says: 'refused: power on (completion code 0xc1)',
  },
  {
    name: 'a status nobody expects',
    bmc: { refuse: { rakp3: 0x12 } },
    code: 'refused',
    says: 'RMCP+ status 0x12',
  },
  { name: 'IPMI 1.5', bmc: { onlyVersion15: true }, code: 'config', says: 'does not speak IPMI 2.0' },
];

const final = new Set(['auth', 'config']);

test.each(cases)('$name', async ({ bmc: options, wanted, code, says }) => {
  const bmc = closing(await startIpmiBmc(options));
  const driver = await ipmiDriver(bmc.port, wanted);
  const error = await failing(() => driver.set('on', patient(), 'op-1'));
  expect(error).toMatchObject({ code, final: final.has(code) });
  expect(error.message).toMatch(/^mini-1: /);
  expect(error.message).toContain(says);
  expect(bmc.chassis.controls).toEqual([]);
});

test('who is told that there is no session free is told when to come back', async () => {
  const bmc = await startIpmiBmc({ mostSessions: 0 });
  const driver = await ipmiDriver(bmc.port);
  const error = await failing(() => driver.read(patient()));
  await bmc.close();
  expect(error.retryAfterMs).toBe(30_000);
});

test.each([0x01, 0x0a, 0x0d, 0x12])(
  'status 0x%x to suite 17 does not make us try a weaker one',
  async (open) => {
    const bmc = await startIpmiBmc({ refuse: { open } });
    const driver = await ipmiDriver(bmc.port);
    await failing(() => driver.read(patient()));
    await bmc.close();
    expect(bmc.received).toEqual(['06.38', 'open']);
  },
);

test.each([0x04, 0x05, 0x09, 0x11])('status 0x%x to suite 17 does', async (open) => {
  const bmc = await startIpmiBmc({ refuse: { open } });
  const driver = await ipmiDriver(bmc.port);
  await failing(() => driver.read(patient()));
  await bmc.close();
  expect(bmc.received).toEqual(['06.38', 'open', 'open']);
});

test('a wrong password is shown to the BMC in no proof of ours, and tried twice at most', async () => {
  const bmc = await startIpmiBmc();
  const driver = await ipmiDriver(bmc.port, { secrets: { password: 'guess' } });
  await failing(() => driver.read(patient()));
  // The rakp3 here is the one that says: not proven, forget it. Nobody waits for what becomes of it.
  const once = ['06.38', 'open', 'rakp1', 'rakp3'];
  await eventually(() => expect(bmc.received).toEqual([...once, ...once]));
  await bmc.close();
  expect(bmc.openSessions).toBe(0);
});

test('boot flags that are not kept are not taken for done', async () => {
  const bmc = await startIpmiBmc();
  bmc.chassis.forgetsBoot = true;
  const driver = await ipmiDriver(bmc.port);
  const error = await failing(async () => driver.bootFromNetwork?.(patient()));
  await bmc.close();
  expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining('did not keep it') });
  expect(bmc.openSessions).toBe(0);
});

test('a closed port is unreachable', async () => {
  const bmc = await startIpmiBmc();
  await bmc.close();
  const driver = await ipmiDriver(bmc.port);
  const error = await failing(() => driver.read(patient()));
  expect(error).toMatchObject({ code: 'unreachable', final: false });
  expect(error.message).toContain('ECONNREFUSED');
});

test('no password in any error, however deep one looks', async () => {
  // `failing` looks; this makes sure that it would see it.
  await expect(
    failing(async () => {
      throw new Error('x', { cause: { deep: [credentials.password] } });
    }),
  ).rejects.toThrow('not.toContain');
});
