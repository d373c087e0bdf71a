import { createServer } from 'node:http';
import type { MachineSpec } from '../../../shared/core/machine/machine.ts';
import { failureOf } from '../../../shared/drivers/common/failure.ts';
import { Calls } from '../../../shared/drivers/http/call-schema.ts';
import { firstAt } from '../../../shared/drivers/http/pointer.ts';
import { presets } from '../../../shared/drivers/http/presets.ts';
import { fill, inPath } from '../../../shared/drivers/http/template.ts';
import { digestAnswer } from '../../../shared/http/digest.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { closing } from '../../support/cleanup.ts';
import { driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';

const fail = failureOf({ name: 'mini-1' });
const spec = (mgmtAddress: string, options: object, more: Partial<MachineSpec> = {}) =>
  machineSpec(mgmtAddress, {
    powerInterface: 'http',
    bmcCredentials: undefined,
    options: { ...options },
    ...more,
  });

describe('calls of one’s own', () => {
  test('are filled in from the inventory: path, header, JSON and form', async () => {
    const seen: object[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { method, url, headers } = request;
      seen.push({ method, url, body, type: headers['content-type'], pool: headers['x-pool'] });
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const options = {
        on: { path: '/wake/{{name}}/{{ macAddress }}?rack={{rack}}', body: { rack: ['{{rack}}'] } },
        softOff: {
          method: 'PUT',
          path: '/stop',
          form: { rack: '{{rack}}' },
          headers: { 'X-Pool': 'of {{pool}}' },
        },
      };
      const more = { macAddress: '52:54:00:12:34:56', rack: 'a&"b' };
      const driver = await driverOf(spec(`http://127.0.0.1:${port}`, options, more));
      expect(driver.capabilities).toMatchObject({ status: false, softOff: true, hardOff: false });
      await driver.set('on', patient(), 'op-1');
      await driver.set('soft-off', patient(), 'op-2');
      expect(seen).toEqual([
        {
          method: 'POST',
          url: '/wake/mini-1/52%3A54%3A00%3A12%3A34%3A56?rack=a%26%22b',
          body: '{"rack":["a&\\"b"]}',
          type: 'application/json',
          pool: undefined,
        },
        {
          method: 'PUT',
          url: '/stop',
          body: 'rack=a%26%22b',
          type: 'application/x-www-form-urlencoded',
          pool: 'of closet',
        },
      ]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test('a call of one’s own comes before the preset’s', async () => {
    const service = closing(
      await startScripted({
        'GET /cm?cmnd=Power1': { body: { POWER: 'ON' } },
        'POST /gently': { body: '{}' },
      }),
    );
    const driver = await driverOf(spec(service.url, { preset: 'tasmota', softOff: { path: '/gently' } }));
    expect(driver.capabilities).toMatchObject({ status: true, softOff: true, hardOff: true });
    await driver.set('soft-off', patient(), 'op-1');
    expect(await driver.read(patient())).toEqual({ power: 'on' });
  });

  test('a status may be a bare word, and what stands in neither list is unknown', async () => {
    const answers = { 'GET /state': { body: 'ON' } };
    const service = closing(await startScripted(answers));
    const status = { path: '/state', on: ['ON'], off: ['OFF'] };
    const driver = await driverOf(spec(service.url, { on: { path: '/on' }, status }));
    const read = async (body: string) => {
      answers['GET /state'].body = body;
      return (await driver.read(patient())).power;
    };
    expect([await read('ON\n'), await read('OFF'), await read('Off'), await read('{"power":"ON"}')]).toEqual([
      'on',
      'off',
      'unknown',
      'unknown',
    ]);
  });
});

describe('a mistake to mend', () => {
  const call = (path: string, more: object = {}) => ({ on: { path, ...more } });
  test.each([
    ['an unknown placeholder', call('/{{hostname}}'), '{{hostname}}'],
    ['an expression', call('/{{name.length}}'), '{{name.length}}'],
    ['a name that JavaScript knows', call('/{{constructor}}'), '{{constructor}}'],
    ['a field the inventory does not have', call('/{{macAddress}}'), 'macAddress'],
    ['braces that do not match', call('/{{name'), 'braces'],
    ['a blank outside of a field', call('/a b'), 'path'],
    // With a pattern that matches in two ways, the process would stand still for ever.
    ['many fields and a blank', call(`/${'{{a}}'.repeat(1_000)} `), 'path'],
    ['fault 35: another host', call('//evil.example/x'), 'path'],
    ['fault 35: another host, by backslash', call('/\\evil.example/x'), 'path'],
    ['fault 35: another host, as a URL', call('http://evil.example/'), 'path'],
    ['a header that is ours to set', call('/x', { headers: { authorization: 'Bearer x' } }), 'authorization'],
    [
      'fault 36: a header that breaks the line',
      call('/x', { headers: { 'x-a': 'b\r\nx-evil: 1' } }),
      'header',
    ],
    ['a body and a form', call('/x', { body: {}, form: {} }), 'not both'],
    ['no call for on', { off: { path: '/off' } }, 'on'],
    ['a user in the address', { url: 'http://a:b@plug/', ...call('/x') }, 'user or password'],
  ])('%s', async (_, options, told) => {
    const error = await failing(() => driverOf(spec('http://10.0.0.5', options)));
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(told) });
  });

  test('Home Assistant without an entity', async () => {
    const error = await failing(() => driverOf(spec('http://10.0.0.5', { preset: 'home-assistant' })));
    expect(error.message).toContain('entity');
  });
});

test('fault 36: whatever a value holds, it stays in its segment of the path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (value) => {
      fc.pre(value !== '.' && value !== '..' && value.isWellFormed());
      const path = fill('/a/{{value}}/b', { value }, inPath(fail), fail);
      const url = new URL(path, 'http://plug');
      expect(url.origin).toBe('http://plug');
      expect(url.search + url.hash).toBe('');
      expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'a', value, 'b']);
    }),
  );
  expect(() => fill('/a/{{value}}/b', { value: '..' }, inPath(fail), fail)).toThrow('part of a path');
});

test('a value that looks like a placeholder is not filled in again', () => {
  const fields = { name: '{{password}}', password: 'x' };
  expect(fill('{{name}}', fields, (value) => value, fail)).toBe('{{password}}');
});

test('every preset is made of calls that anybody could have written', () => {
  for (const { calls } of Object.values(presets)) expect(() => Calls.parse(calls)).not.toThrow();
});

test('JSON pointers, as RFC 6901 has them', () => {
  const document = { 'a/b': 1, 'm~n': 2, list: [{ x: 3 }], none: null };
  expect(firstAt(document, ['/a~1b'])).toBe(1);
  expect(firstAt(document, ['/m~0n'])).toBe(2);
  expect(firstAt(document, ['/no', '/list/0/x'])).toBe(3);
  expect(firstAt(document, ['/none'])).toBeNull();
  expect(firstAt(document, ['/toString', '/list/length/x'])).toBeUndefined();
  expect(firstAt('ON', [''])).toBe('ON');
});

describe('digest authentication', () => {
  // RFC 7616, section 3.9.1.
  const login = { username: 'Mufasa', password: 'Circle of Life' };
  const request = { method: 'GET', uri: '/dir/index.html' };
  const cnonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
  const challenge = (algorithm: string) =>
    `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;

  test.each([
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ])('as the RFC’s example has it, with %s', (algorithm, response) => {
    const answer = digestAnswer(challenge(algorithm), login, request, cnonce);
    expect(answer).toContain(`response="${response}"`);
    expect(answer).not.toContain(login.password);
  });

  test.each([
    undefined,
    'Basic realm="x"',
    challenge('SHA-512-256'),
    'Digest realm="x", nonce="y"',
    'Digest realm="x", qop="auth-int", nonce="y"',
  ])('no answer to %p', (unknown) => {
    expect(digestAnswer(unknown, login, request)).toBeUndefined();
  });
});

test('a password is not shown to a device that asks for no digest', async () => {
  const shown: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  try {
    const driver = await driverOf(
      spec(`http://127.0.0.1:${port}`, { preset: 'shelly', credentials: 'plug' }),
    );
    expect((await failing(() => driver.read(patient()))).code).toBe('auth');
    expect(shown).toEqual([undefined]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
