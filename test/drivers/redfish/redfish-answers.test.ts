import {
  type Answers,
  deps,
  driverOf,
  failing,
  machineSpec,
  patient,
  type ScriptedBmc,
  startScripted,
} from '../harness.ts';

const reset = '/redfish/v1/Systems/a/Actions/Reset';
const systemWith = (more: object = {}, action: object = {}) => ({
  PowerState: 'Off',
  Actions: { '#ComputerSystem.Reset': { target: reset, ...action } },
  ...more,
});
const members = (...paths: string[]) => ({ Members: paths.map((path) => ({ '@odata.id': path })) });
const usual: Answers = {
  'GET /redfish/v1/': { body: { Systems: { '@odata.id': '/redfish/v1/Systems' } } },
  'GET /redfish/v1/Systems': { body: members('/redfish/v1/Systems/a') },
  'GET /redfish/v1/Systems/a': { body: systemWith() },
  [`POST ${reset}`]: { status: 204 },
};

const started: ScriptedBmc[] = [];
afterEach(async () => {
  for (const bmc of started.splice(0)) await bmc.close();
});

async function start(answers: Answers = {}, options?: Record<string, unknown>) {
  const bmc = await startScripted({ ...usual, ...answers });
  started.push(bmc);
  const driver = await driverOf(machineSpec(bmc.url, { options }));
  return {
    requests: bmc.requests,
    power: async () => (await driver.read(patient())).power,
    set: (verb: 'on' | 'soft-off') => driver.set(verb, patient(), 'op-1'),
  };
}

test.each<[string | null, string]>([
  ['On', 'on'],
  ['Off', 'off'],
  ...['PoweringOn', 'PoweringOff', 'Paused', 'off', '', 'constructor'].map((state): [string, string] => [
    state,
    'unknown',
  ]),
  [null, 'unknown'],
])('PowerState %j is %s', async (PowerState, power) => {
  const bmc = await start({ 'GET /redfish/v1/Systems/a': { body: systemWith({ PowerState }) } });
  expect(await bmc.power()).toBe(power);
});

test('a BMC that knows no GracefulShutdown is not asked for one', async () => {
  const allowed = { 'ResetType@Redfish.AllowableValues': ['On', 'ForceOff', 'PushPowerButton'] };
  const bmc = await start({ 'GET /redfish/v1/Systems/a': { body: systemWith({}, allowed) } });
  const error = await failing(() => bmc.set('soft-off'));
  expect(error).toMatchObject({ code: 'refused', final: false });
  expect(error.message).toContain('does not know GracefulShutdown, only On, ForceOff, PushPowerButton');
  await bmc.set('on');
  expect(bmc.requests.filter((request) => request.startsWith('POST'))).toEqual([`POST ${reset}`]);
});

test('the reset action is the one that the system names; without one nothing is sent', async () => {
  const elsewhere = '/oem/PowerOn';
  const named = await start({
    'GET /redfish/v1/Systems/a': { body: systemWith({}, { target: elsewhere }) },
    [`POST ${elsewhere}`]: { status: 204 },
  });
  await named.set('on');
  expect(named.requests.at(-1)).toBe(`POST ${elsewhere}`);

  const none = await start({ 'GET /redfish/v1/Systems/a': { body: systemWith({ Actions: undefined }) } });
  expect((await failing(() => none.set('on'))).message).toContain('offers no reset action');
});

describe('which system', () => {
  const two = {
    'GET /redfish/v1/Systems': { body: members('/redfish/v1/Systems/a', '/redfish/v1/Systems/b') },
  };

  test('more than one is refused by name, and nothing is commanded', async () => {
    const bmc = await start(two);
    const error = await failing(() => bmc.set('on'));
    expect(error).toMatchObject({ code: 'config', final: true });
    expect(error.message).toBe(
      'mini-1: its BMC manages 2 systems: set redfish.system to one of /redfish/v1/Systems/a, /redfish/v1/Systems/b',
    );
    expect(bmc.requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  });

  test('the option picks one, without looking for others', async () => {
    const bmc = await start(
      { ...two, 'GET /redfish/v1/Systems/b': { body: systemWith({ PowerState: 'On' }) } },
      { system: '/redfish/v1/Systems/b' },
    );
    expect(await bmc.power()).toBe('on');
    expect(bmc.requests).toEqual(['GET /redfish/v1/Systems/b']);
  });

  test('it is found once, and again after a refusal: another board may have come', async () => {
    const there = { body: systemWith() };
    const resolve = async (host: string) => host;
    const bmc = await startScripted(usual, ({ path }, answers) => {
      if (path !== '/redfish/v1/Systems/a' || bmc.requests.length !== 4) return;
      answers['GET /redfish/v1/Systems'] = { body: members('/redfish/v1/Systems/b') };
      answers['GET /redfish/v1/Systems/b'] = there;
      answers['GET /redfish/v1/Systems/a'] = { status: 404 };
    });
    started.push(bmc);
    const read = async () => (await driverOf(machineSpec(bmc.url), { resolve })).read(patient());
    await read();
    await read();
    await failing(read);
    await read();
    expect(bmc.requests.map((request) => request.replace('GET /redfish/v1/', ''))).toEqual([
      '',
      'Systems',
      'Systems/a',
      'Systems/a',
      'Systems/a',
      '',
      'Systems',
      'Systems/b',
    ]);
  });

  test('none yet, as while a BMC starts, is worth another try', async () => {
    const bmc = await start({ 'GET /redfish/v1/Systems': { body: members() } });
    const error = await failing(bmc.power);
    expect(error).toMatchObject({ code: 'refused', final: false });
    expect(error.message).toContain('lists no system');
  });
});

describe('nobody else is talked to', () => {
  let other: ScriptedBmc;
  beforeEach(async () => {
    other = await startScripted({ 'GET /system': { body: systemWith({ PowerState: 'On' }) } });
  });
  afterEach(() => other.close());

  test.each([301, 302, 307, 308])('a redirect (%i) is not followed', async (status) => {
    const headers = { location: `${other.url}/system` };
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { status, headers } });
    const error = await failing(bmc.power);
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(`(${status})`) });
    expect(other.requests).toEqual([]);
  });

  test('a link to another address is not followed', async () => {
    for (const link of [`${other.url}/system`, `${other.url.replace('http:', '')}/system`]) {
      const bmc = await start({ 'GET /redfish/v1/Systems': { body: members(link) } });
      const error = await failing(bmc.power);
      expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(other.url) });
    }
    expect(other.requests).toEqual([]);
  });

  test('nor is a reset sent there', async () => {
    const target = `${other.url}/reset`;
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { body: systemWith({}, { target }) } });
    expect((await failing(() => bmc.set('on'))).code).toBe('refused');
    expect(other.requests).toEqual([]);
  });
});

describe('answers that are no answer', () => {
  test.each<[string, Answers[string]]>([
    ['a web page', { headers: { 'content-type': 'text/html' }, body: '<html>Login</html>' }],
    ['JSON of something else', { body: { hello: 'there' } }],
    ['nothing', {}],
    ['a PowerState that is no text', { body: { PowerState: 1 } }],
  ])('%s is refused, not a power state', async (_, answer) => {
    const bmc = await start({ 'GET /redfish/v1/': answer, 'GET /redfish/v1/Systems/a': answer });
    expect(await failing(bmc.power)).toMatchObject({ code: 'refused', final: false });
  });

  test('a body without end is cut off', async () => {
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { body: { PowerState: 'x'.repeat(1_100_000) } } });
    expect(await failing(bmc.power)).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('more than 1000000 bytes'),
    });
  });

  test.each([
    ['12', 12_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('Retry-After %j', async (header, retryAfterMs) => {
    const headers = header === undefined ? {} : { 'retry-after': header };
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { status: 429, headers } });
    expect(await failing(bmc.power)).toMatchObject({ code: 'busy', retryAfterMs });
  });

  test('Retry-After as a date is counted from now', async () => {
    const headers = { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() };
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { status: 503, headers } });
    const { retryAfterMs } = await failing(bmc.power);
    expect(retryAfterMs).toBeGreaterThan(3_000_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
  });

  test('a refusal that repeats the password is not passed on', async () => {
    const message = `no: ${JSON.stringify(await deps.credentials(''))}`;
    const info = { error: { message, '@Message.ExtendedInfo': [{ MessageId: message, Message: message }] } };
    const bmc = await start({ 'GET /redfish/v1/Systems/a': { status: 400, body: info } });
    expect((await failing(bmc.power)).message).toBe('mini-1: its BMC answered 400');
  });
});
