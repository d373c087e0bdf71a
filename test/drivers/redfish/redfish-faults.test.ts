import type { PowerError } from '../../../shared/ports/power.ts';
import { fc } from '../../../tools/support/seeded.ts';
import { closing } from '../../support/cleanup.ts';
import { credentials, driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

let lab: LabBmc;
beforeEach(async () => {
  lab = await startLabBmc();
});
afterEach(() => lab.close());

const verbs = () => lab.machine.commands.map(({ verb }) => verb);

test.each(['slow', 'hang', 'half-open', 'slow-drip'] as const)(
  'fault 13: a BMC that is slow (%s) leaves the power unknown, and one that recovers is read again',
  async (name) => {
    const driver = await lab.driver();
    lab.fault(name);
    for (const call of [
      () => driver.read(AbortSignal.timeout(150)),
      () => driver.set('on', AbortSignal.timeout(150), 'op-1'),
      () => driver.bootFromNetwork?.(AbortSignal.timeout(150)) ?? Promise.resolve(),
      () => driver.sense?.(AbortSignal.timeout(150)) ?? Promise.resolve(),
    ])
      expect(await failing(call)).toMatchObject({ code: 'timeout', final: false });
    expect(verbs()).toEqual([]);
    lab.machine.faults.clear();
    expect((await driver.read(patient())).power).toBe('off');
  },
);

test('fault 14: a BMC that flaps is told as it is, each time restarted: who asks has to see it stand still', async () => {
  const driver = await lab.driver();
  lab.fault('flapping');
  const seen = [];
  for (let times = 0; times < 4; times++) seen.push((await driver.read(patient())).power);
  expect(seen).toEqual(['on', 'off', 'on', 'off']);
});

test('fault 15: a BMC that says OK and does nothing is not taken at its word', async () => {
  const driver = await lab.driver();
  lab.fault('ok-but-nothing-happens');
  await driver.set('on', patient(), 'op-1');
  lab.clock.advance(1_000_000);
  expect((await driver.read(patient())).power).toBe('off');
  lab.machine.faults.clear();
  await driver.set('on', patient(), 'op-1');
  lab.clock.advance(10_000);
  expect((await driver.read(patient())).power).toBe('on');
});

test('fault 16: the BMC of another machine shows by its UUID and serial', async () => {
  const driver = await lab.driver();
  const { systemUUID, serialNumber } = lab.machine.identity;
  expect(await driver.read(patient())).toMatchObject({ systemUUID, serial: serialNumber });
  lab.fault('wrong-machine', { uuid: 'ffffffff-0000-4000-8000-000000000000', serial: 'X1' });
  expect(await driver.read(patient())).toMatchObject({
    systemUUID: 'ffffffff-0000-4000-8000-000000000000',
    serial: 'X1',
  });
});

test('fault 17: a wrong password is sent once a call, so that the account is not locked', async () => {
  const wrong = { credentials: async () => ({ ...credentials, password: 'guess' }) };
  for (const call of ['read', 'set'] as const) {
    lab.fault('lockout', { after: 2 });
    const driver = await lab.driver({}, wrong);
    const work = call === 'read' ? driver.read(patient()) : driver.set('on', patient(), 'op-1');
    expect(await failing(() => work)).toMatchObject({ code: 'auth', final: true });
    // One more wrong one would have locked it.
    expect((await (await lab.driver()).read(patient())).power).toBe('off');
  }
  expect(verbs()).toEqual([]);
});

test('fault 36: whatever stands in the options or the address, it is data: a path, or refused', async () => {
  const bmc = closing(await startScripted({}));
  const nasty = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((text) => `/${text}`),
    fc.constantFrom(
      '/x HTTP/1.1\r\nHost: evil\r\n\r\nGET /y',
      '//evil.example/x',
      '/../../etc/passwd',
      '/%0d%0ax: 1',
      '/$(reboot)',
      '/;reboot',
      '/\u0000',
      '/\\evil.example\\x',
    ),
  );
  await fc.assert(
    fc.asyncProperty(nasty, nasty, async (system, address) => {
      const before = bmc.requests.length;
      const error = await failing(async () => {
        const driver = await driverOf(machineSpec(bmc.url, { options: { system } }));
        await driver.set('on', patient(), 'op-1');
      });
      expect(['config', 'refused']).toContain(error.code);
      const asked = bmc.requests.slice(before);
      // At most the one question that was meant, percent-encoded, and never a command.
      expect(asked.length).toBeLessThanOrEqual(1);
      for (const request of asked) expect(request).toMatch(/^GET \/[\x21-\x7e]*$/);
      expect(await failing(() => driverOf(machineSpec(`https//${address}`)))).toMatchObject({
        code: 'config',
      });
    }),
    { numRuns: 200 },
  );
});

describe('fault 37: a secret is in no error', () => {
  const secret = credentials.password;
  const pair = Buffer.from(`${credentials.username}:${secret}`).toString('base64');
  const echoes = [secret, pair, `Basic ${pair}`, JSON.stringify(credentials)];
  const system = '/redfish/v1/Systems/a';

  test('whatever a BMC answers, also when it repeats what it was sent', async () => {
    const answer = fc.record({
      status: fc.constantFrom(200, 202, 301, 307, 400, 401, 403, 404, 409, 412, 429, 500, 503),
      echo: fc.constantFrom(...echoes),
      place: fc.constantFrom('text', 'message', 'messageId', 'power', 'header', 'retryAfter'),
    });
    const asMessage = (text: string, MessageId: string) => ({
      error: { code: text, message: text, '@Message.ExtendedInfo': [{ MessageId, Message: text }] },
    });
    const bodies: Record<string, (echo: string) => object | string> = {
      text: (echo) => echo,
      message: (echo) => asMessage(echo, 'Base.1.0.GeneralError'),
      messageId: (echo) => asMessage(echo, echo.replaceAll(/[^\w.]/g, '_')),
      power: (echo) => ({ PowerState: { [echo]: echo }, Actions: echo }),
    };
    await fc.assert(
      fc.asyncProperty(answer, fc.boolean(), async ({ status, echo, place }, session) => {
        const headers: Record<string, string> =
          place === 'header' ? { location: `/x?${encodeURIComponent(echo)}`, etag: echo } : {};
        if (place === 'retryAfter') headers['retry-after'] = echo;
        const said = { status, headers, body: bodies[place]?.(echo) ?? {} };
        const bmc = closing(
          await startScripted({
            [`GET ${system}`]: said,
            'GET /redfish/v1/': session ? { body: { Systems: { '@odata.id': '/s' } } } : said,
            'POST /redfish/v1/SessionService/Sessions': said,
          }),
        );
        const options = { system, auth: session ? 'session' : 'basic' };
        const error: PowerError = await failing(async () => {
          await (await driverOf(machineSpec(bmc.url, { options }))).set('on', patient(), 'op-1');
        });
        expect(error.message).not.toBe('');
      }),
      { numRuns: 150 },
    );
  });
});
