import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../support/cleanup.ts';
import { credentials, failing, patient } from '../harness.ts';
import { type IpmiWanted, ipmiDriver } from './ipmi-harness.ts';

let folder: string;
const before = process.env.PATH;
beforeEach(() => {
  folder = newFolder();
  process.env.PATH = `${folder}:${before}`;
});
afterEach(() => {
  process.env.PATH = before;
});

/** A program of that name which writes down its arguments and secrets, then does as told. */
function install(then: string): void {
  const path = join(folder, 'ipmitool');
  writeFileSync(
    path,
    `#!/bin/sh\ncd '${folder}'\nprintf '%s\\n' "$@" >> arguments\nenv > environment\n${then}\n`,
  );
  chmodSync(path, 0o755);
}
const written = (name: string): string[] => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
const driverWith = ({ options, ...wanted }: IpmiWanted = {}) =>
  ipmiDriver(6230, { options: { tool: 'ipmitool', ...options }, ...wanted });

test('runs it with checked arguments; secrets are in its environment and nowhere else', async () => {
  install('echo "Chassis Power is on"');
  const driver = await driverWith({ secrets: { kg: 'the-key' } });
  expect(await driver.read(patient())).toMatchObject({ power: 'on' });
  expect(written('arguments').join(' ')).toBe(
    '-I lanplus -v -E -K -H 127.0.0.1 -p 6230 -U operator -L OPERATOR -N 1 -R 4 -C 17 chassis power status',
  );
  const environment = written('environment');
  expect(environment).toContain(`IPMITOOL_PASSWORD=${credentials.password}`);
  expect(environment).toContain('IPMI_KGKEY=the-key');
  // Nothing of ours that it does not need.
  expect(environment.filter((line) => /^(HOME|NODE_OPTIONS)=/.test(line))).toEqual([]);
});

test('the next cipher suite is tried only when the BMC does not know the first', async () => {
  install(`case "$*" in *"-C 17"*) echo "Error in open session response message : invalid authentication algorithm" >&2; exit 1;; esac
echo "Chassis Power is off"`);
  expect(await (await driverWith()).read(patient())).toMatchObject({ power: 'off' });
  expect(written('arguments').filter((_, index, all) => all[index - 1] === '-C')).toEqual(['17', '3']);
});

test.each([
  ['> RAKP 2 HMAC is invalid', 'auth'],
  ['RAKP 2 message indicates an error : unauthorized name', 'auth'],
  ['> RAKP 4 message has invalid integrity check value', 'auth'],
  ['Error in open session response message : insufficient resources for session', 'busy'],
  ['Get Auth Capabilities error', 'timeout'],
  ['something else', 'refused'],
])('what it says is understood: %s', async (says, code) => {
  install(`echo "${says}" >&2; exit 1`);
  const driver = await driverWith();
  expect((await failing(() => driver.set('on', patient(), 'op-1'))).code).toBe(code);
});

test('an answer that is neither on nor off is unknown', async () => {
  install('echo "Chassis Power is onwards"');
  expect(await (await driverWith()).read(patient())).toMatchObject({ power: 'unknown' });
});

test('one that never ends is ended, and that is a time-out', async () => {
  install('exec sleep 60');
  const driver = await driverWith();
  const error = await failing(() => driver.set('on', AbortSignal.timeout(300), 'op-1'));
  expect(error).toMatchObject({ code: 'timeout', final: false });
});

test('where it is not installed the error says so', async () => {
  process.env.PATH = folder;
  const driver = await driverWith();
  const error = await failing(() => driver.read(patient()));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('not installed') });
});

test('a kg that it could only take as an argument is refused', async () => {
  install('echo "Chassis Power is on"');
  const driver = await driverWith({ secrets: { kg: '0x0102' } });
  expect((await failing(() => driver.read(patient()))).code).toBe('config');
  expect(existsSync(join(folder, 'arguments'))).toBe(false);
});

test.each(['-oProxyCommand=touch x', 'host;touch x', '$(touch x)', '`touch x`', 'host\nx'])(
  'fault 36: mgmtAddress %j runs nothing',
  async (mgmtAddress) => {
    install('echo "Chassis Power is on"');
    await failing(() => driverWith({ spec: { mgmtAddress } }));
    expect(existsSync(join(folder, 'arguments'))).toBe(false);
    expect(existsSync(join(folder, 'x'))).toBe(false);
  },
);

test.each(['operator\n-P', 'a\u0000b'])('fault 36: username %j runs nothing', async (username) => {
  install('echo "Chassis Power is on"');
  const driver = await driverWith({ secrets: { username } });
  expect((await failing(() => driver.read(patient()))).code).toBe('config');
  expect(existsSync(join(folder, 'arguments'))).toBe(false);
});

test('fault 36: a username that looks like an option or a command is only ever a name', async () => {
  install('echo "Chassis Power is on"');
  for (const username of ['-P', '$(touch x)']) {
    const driver = await driverWith({ secrets: { username } });
    expect((await driver.read(patient())).power).toBe('on');
    expect(
      written('arguments')
        .filter((_, index, all) => all[index - 1] === '-U')
        .at(-1),
    ).toBe(username);
  }
  expect(existsSync(join(folder, 'x'))).toBe(false);
});
