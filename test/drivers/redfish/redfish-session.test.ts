import { basicAuth } from '../../../shared/http/address.ts';
import { paths } from '../../../simulator/lab/rack/resources.ts';
import { closing } from '../../support/cleanup.ts';
import {
  type Answers,
  credentials,
  driverOf,
  failing,
  machineSpec,
  patient,
  startScripted,
} from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

let lab: LabBmc;
beforeEach(async () => {
  // With room for one: a session that is left open is found by the next that cannot be begun.
  lab = await startLabBmc({}, { sessionLimit: 1 });
});
afterEach(() => lab.close());

const session = { auth: 'session' };
async function openSessions(): Promise<number> {
  const headers = { authorization: basicAuth(credentials) };
  const response = await fetch(`${lab.bmc.url}${paths.sessions}`, { headers });
  const { Members } = (await response.json()) as { Members: unknown[] };
  return Members.length;
}

test('every call logs in and out', async () => {
  const driver = await lab.driver(session);
  for (let times = 0; times < 3; times++) {
    expect((await driver.read(patient())).power).toBe('off');
    expect(await openSessions()).toBe(0);
  }
  await driver.set('on', patient(), 'op-1');
  expect(lab.machine.phase).toBe('powering-on');
  expect(await openSessions()).toBe(0);
});

test('it logs out after an error', async () => {
  lab.fault('not-now');
  await failing(async () => (await lab.driver(session)).set('on', patient(), 'op-1'));
  expect(await openSessions()).toBe(0);
});

test('it logs out after the signal aborted, and that is all that is sent then', async () => {
  const driver = await lab.driver(session);
  const stop = new AbortController();
  const { record } = lab.machine;
  // In the middle of the command: its answer is still on its way.
  lab.machine.record = (verb, accepted) => {
    record.call(lab.machine, verb, accepted);
    lab.fault('half-open', { times: 1 });
    setImmediate(() => stop.abort());
  };
  expect(await failing(() => driver.set('on', stop.signal, 'op-1'))).toMatchObject({ code: 'timeout' });
  expect(await openSessions()).toBe(0);
  expect(lab.machine.commands).toHaveLength(1);
});

test('no free session is busy, with the time that the BMC asks for', async () => {
  lab.fault('no-session-free');
  const error = await failing(async () => (await lab.driver(session)).read(patient()));
  expect(error).toMatchObject({ code: 'busy', final: false, retryAfterMs: 30_000 });
});

test('fault 17: a wrong password is final, and tried once', async () => {
  lab.fault('lockout', { after: 2 });
  const wrong = { credentials: async () => ({ ...credentials, password: 'guess' }) };
  const error = await failing(async () => (await lab.driver(session, wrong)).set('on', patient(), 'op-1'));
  expect(error).toMatchObject({ code: 'auth', final: true });
  // A second wrong one would have locked the account.
  expect((await (await lab.driver(session)).read(patient())).power).toBe('off');
});

test('a session without credentials is a mistake to mend', async () => {
  const error = await failing(() =>
    driverOf(machineSpec(lab.bmc.url, { bmcCredentials: undefined, options: session })),
  );
  expect(error).toMatchObject({
    code: 'config',
    message: 'mini-1: redfish.auth session needs bmcCredentials',
  });
});

describe('a BMC with ways of its own', () => {
  const system = '/redfish/v1/Systems/a';
  const sessions = '/redfish/v1/Sessions';
  const usual: Answers = {
    'GET /redfish/v1/': {
      body: { Systems: { '@odata.id': '/s' }, Links: { Sessions: { '@odata.id': sessions } } },
    },
    [`POST ${sessions}`]: { status: 201, headers: { 'x-auth-token': 't0ken', location: `${sessions}/1` } },
    [`DELETE ${sessions}/1`]: { status: 204 },
    [`GET ${system}`]: { body: { PowerState: 'On' } },
  };
  const read = async (answers: Answers, check?: Parameters<typeof startScripted>[1]) => {
    const bmc = closing(await startScripted({ ...usual, ...answers }, check));
    const driver = await driverOf(machineSpec(bmc.url, { options: { ...session, system } }));
    return { reading: await driver.read(patient()), requests: bmc.requests };
  };

  test('the password goes to the log-in and nowhere else; the rest carries the token', async () => {
    const carried: string[] = [];
    const { reading, requests } = await read({}, ({ method, path, headers, body }) => {
      const what = [headers.authorization, headers['x-auth-token'], body].filter(Boolean).join();
      carried.push(`${method} ${path} ${what.includes(credentials.password) ? 'password' : what}`.trim());
    });
    expect(reading.power).toBe('on');
    expect(carried).toEqual([
      'GET /redfish/v1/',
      `POST ${sessions} password`,
      `GET ${system} t0ken`,
      `DELETE ${sessions}/1 t0ken`,
    ]);
    expect(requests).toHaveLength(4);
  });

  test('a session that it ends by itself is not a wrong password', async () => {
    const error = await failing(() => read({ [`GET ${system}`]: { status: 401 } }));
    expect(error).toMatchObject({ code: 'busy', final: false });
  });

  test('a log-out that fails changes nothing', async () => {
    const { reading } = await read({ [`DELETE ${sessions}/1`]: { status: 500 } });
    expect(reading.power).toBe('on');
  });

  test('a session that it does not name could not be ended', async () => {
    const error = await failing(() => read({ [`POST ${sessions}`]: { status: 201 } }));
    expect(error.message).toContain('Set redfish.auth to basic');
  });
});
