import { parseAddress } from '../../../shared/drivers/ipmi/address.ts';
import { sessionKeys } from '../../../shared/drivers/ipmi/keys.ts';
import { checksum, decodeAnswer } from '../../../shared/drivers/ipmi/message.ts';
import { privileges } from '../../../shared/drivers/ipmi/options.ts';
import { unwrapPlus, unwrapSessionless } from '../../../shared/drivers/ipmi/packet.ts';
import { open, seal } from '../../../shared/drivers/ipmi/seal.ts';
import { createSession } from '../../../shared/drivers/ipmi/session.ts';
import { cipherSuites } from '../../../shared/drivers/ipmi/suites.ts';
import type { Talk } from '../../../shared/drivers/ipmi/talk.ts';
import type { Transport } from '../../../shared/drivers/ipmi/transport.ts';
import { PowerError } from '../../../shared/ports/power.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { failing, patient } from '../harness.ts';
import { ipmiDriver } from './ipmi-harness.ts';

test.each([
  ['10.0.0.5', '10.0.0.5', 623],
  ['10.0.0.5:6230', '10.0.0.5', 6230],
  ['ipmi://bmc-1.rack.example:6230', 'bmc-1.rack.example', 6230],
  ['ipmi://bmc-1', 'bmc-1', 623],
  ['[fd00::5]:6230', 'fd00::5', 6230],
  ['fd00::5', 'fd00::5', 623],
])('mgmtAddress %s', (text, host, port) => {
  expect(parseAddress(text, 623)).toEqual({ host, port });
});

test.each([
  '-oProxyCommand=touch /tmp/x',
  '-oProxy',
  'host;rm -rf /',
  'host rm',
  '$(reboot)',
  'host\n-P',
  'host:0',
  'host:70000',
  'user:password@host',
  'https://10.0.0.5',
  '[fd00',
  'a..b',
  '',
])('fault 36: mgmtAddress %j is refused before anything runs', async (mgmtAddress) => {
  for (const tool of ['native', 'ipmitool']) {
    const error = await failing(() => ipmiDriver(1, { spec: { mgmtAddress }, options: { tool } }));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('mgmtAddress') });
  }
});

test.each([
  ['username', 'operator\n-P', 'control character'],
  ['username', 'a'.repeat(17), '1 to 16 bytes'],
  ['username', '', '1 to 16 bytes'],
  ['password', 'ü'.repeat(11), '1 to 20 bytes'],
  ['password', 'a\0b', 'control character'],
  ['kg', 'a'.repeat(21), '1 to 20 bytes'],
])('fault 36: %s %j is refused before anything is sent', async (key, value, says) => {
  for (const tool of ['native', 'ipmitool']) {
    const driver = await ipmiDriver(1, { secrets: { [key]: value }, options: { tool } });
    const error = await failing(() => driver.read(patient()));
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toContain(says);
    if (value !== '') expect(error.message).not.toContain(value);
  }
});

test.each([
  [{ cipherSuites: [0] }, 'must be 17 or 3'],
  [{ cipherSuites: [] }, 'cipherSuites'],
  [{ cipherSuites: [3, 3] }, 'twice'],
  [{ port: 0 }, 'port'],
  [{ privilege: 'root' }, 'privilege'],
  [{ bootMode: 'bios' }, 'bootMode'],
  [{ retransmitAfter: '1ms' }, 'retransmitAfter'],
  [{ tool: 'sh -c' }, 'tool'],
  [{ password: 'x' }, 'password'],
])('options %j are refused', async (options, says) => {
  const error = await failing(() => ipmiDriver(1, { options }));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(says) });
});

test('without credentials there is no driver', async () => {
  const error = await failing(() => ipmiDriver(1, { spec: { bmcCredentials: undefined } }));
  expect(error).toMatchObject({ code: 'config', message: expect.stringContaining('bmcCredentials') });
});

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const shake = {
  consoleSession: 1,
  bmcSession: 2,
  consoleRandom: Buffer.alloc(16, 3),
  bmcRandom: Buffer.alloc(16, 4),
  bmcGuid: Buffer.alloc(16, 5),
  role: 0x13,
  username: Buffer.from('a'),
  password: Buffer.from('b'),
  kg: undefined,
};

test('an answer belongs to the request with its number, function and command', () => {
  const request = { netFn: 0x00, command: 0x01, data: [] };
  const answer = Buffer.from([0x81, 0x04, 0x7b, 0x20, 5 << 2, 0x01, 0x00, 0x21, 0x00, 0x00, 0xaa]);
  expect(decodeAnswer(answer, request, 5)).toEqual({ completion: 0, data: Buffer.from([0x21, 0, 0]) });
  expect(decodeAnswer(answer, request, 6)).toBeUndefined();
  expect(decodeAnswer(answer, { ...request, command: 0x02 }, 5)).toBeUndefined();
  expect(decodeAnswer(answer, { ...request, netFn: 0x06 }, 5)).toBeUndefined();
  for (const damaged of [2, 7, 10]) {
    const copy = Buffer.from(answer);
    copy[damaged] = 0x55;
    expect(decodeAnswer(copy, request, 5)).toBeUndefined();
  }
});

test('an answer of 64 requests ago, when numbers begin anew, is not taken for the new one', async () => {
  const keys = sessionKeys({ suite: cipherSuites[17], ...shake });
  const answers: Buffer[] = [];
  const line: Transport = {
    async exchange(packet, accept) {
      const asked = open(keys, 2, packet())?.message.readUInt8(4) ?? 0;
      const body = [0x20, asked, 0x01, 0x00, answers.length];
      const head = [0x81, 0x04];
      const message = Buffer.from([...head, checksum(head), ...body, checksum(body)]);
      answers.push(seal(keys, 1, answers.length + 1, message));
      for (const answer of answers) {
        const accepted = accept(answer);
        if (accepted !== undefined) return accepted;
      }
      return undefined;
    },
    send: async () => undefined,
    [Symbol.dispose]: () => undefined,
  };
  const login = { name: 'x', ...shake, privilege: privileges.operator, suites: [] };
  const fail: Talk['fail'] = (code, message) => new PowerError(code, message);
  const talk = { line, login, retransmit: { afterMs: 1, tries: 1 }, signal: patient(), fail };
  const session = createSession(talk, keys, { console: 1, bmc: 2 });
  for (let number = 0; number < 70; number++) {
    const { data } = await session.request({ netFn: 0, command: 1, data: [] }, 'a test');
    expect(data).toEqual(Buffer.from([number]));
  }
});

test('whatever comes in is read or dropped, never a crash', () => {
  const request = { netFn: 0, command: 1, data: [] };
  const keys = sessionKeys({ suite: cipherSuites[17], ...shake });
  fc.assert(
    fc.property(bytes, fc.constantFrom(0x00, 0x06), (rest, type) => {
      const packet = Buffer.concat([Buffer.from([6, 0, 255, 7, type]), rest]);
      unwrapSessionless(packet);
      unwrapPlus(packet);
      decodeAnswer(rest, request, 0);
      expect(open(keys, 1, packet)).toBeUndefined();
    }),
  );
});

test.each([cipherSuites[3], cipherSuites[17]])(
  'what is sealed with suite $id opens again, and not if a byte differs',
  (suite) => {
    const keys = sessionKeys({ suite, ...shake });
    fc.assert(
      fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (message, at, flip) => {
        const packet = seal(keys, 7, 1, message);
        expect(open(keys, 7, packet)).toEqual({ sequence: 1, message });
        expect(open(keys, 8, packet)).toBeUndefined();
        // The signature covers all behind the four bytes of RMCP.
        const place = 4 + (at % (packet.length - 4));
        packet[place] = (packet[place] ?? 0) ^ flip;
        expect(open(keys, 7, packet)).toBeUndefined();
      }),
    );
  },
);
