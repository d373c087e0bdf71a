import { quirkOf, quirks } from '../../../shared/drivers/redfish/quirks.ts';
import { closing } from '../../support/cleanup.ts';
import { type Answers, driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

const second = 1000;
const system = '/redfish/v1/Systems/a';
const target = `${system}/Reset`;

/** What a scripted system is told, and how that ends. */
async function told(verb: 'on' | 'soft-off' | 'hard-off', action: object, answers: Answers = {}) {
  const types: unknown[] = [];
  const bmc = closing(
    await startScripted(
      {
        [`GET ${system}`]: {
          body: { PowerState: 'Off', Actions: { '#ComputerSystem.Reset': { target, ...action } } },
        },
        [`POST ${target}`]: { status: 204 },
        ...answers,
      },
      ({ method, headers, body }) => {
        if (method !== 'POST') return;
        types.push(JSON.parse(body).ResetType);
        expect(headers['if-match']).toBeUndefined();
      },
    ),
  );
  const driver = await driverOf(machineSpec(bmc.url, { options: { system } }), {
    clock: { now: Date.now, monotonic: Date.now, sleep: async () => undefined },
  });
  await driver.set(verb, patient(), 'op-1');
  return types;
}

describe('what it may be told', () => {
  const info = `${system}/ResetInfo`;
  const annotated = { 'ResetType@Redfish.AllowableValues': ['ForceOn', 'ForceOff'] };
  const parameters = (values: string[]): Answers => ({
    [`GET ${info}`]: { body: { Parameters: [{ Name: 'ResetType', AllowableValues: values }] } },
  });

  test('as the action info says, which goes before what stands beside the action', async () => {
    const action = { ...annotated, '@Redfish.ActionInfo': info };
    expect(await told('on', action, parameters(['On', 'ForceOff']))).toEqual(['On']);
    const error = await failing(() => told('soft-off', action, parameters(['On', 'PushPowerButton'])));
    expect(error.message).toContain('does not know GracefulShutdown, only On, PushPowerButton');
  });

  test('an action info that is not there leaves what stands beside the action', async () => {
    expect(await told('on', { ...annotated, '@Redfish.ActionInfo': info })).toEqual(['ForceOn']);
  });

  test('one that says nothing is told what is usual', async () => {
    expect(await told('on', {})).toEqual(['On']);
    expect(await told('soft-off', {})).toEqual(['GracefulShutdown']);
    expect(await told('hard-off', {})).toEqual(['ForceOff']);
  });
});

describe('tasks', () => {
  let lab: LabBmc;
  beforeEach(async () => {
    lab = await startLabBmc();
  });
  afterEach(() => lab.close());

  test('a 202 is followed to its end, as often as the BMC asks to', async () => {
    lab.fault('task', { ms: 5 * second });
    await (await lab.driver()).set('on', patient(), 'op-1');
    expect(lab.slept).toEqual([1000, 1000, 1000, 1000, 1000]);
    expect(lab.machine.phase).not.toBe('off');
  });

  test('a task that fails is a refusal that says so', async () => {
    lab.fault('task', { ms: 2 * second, ends: 'Exception' });
    const error = await failing(async () => (await lab.driver()).set('on', patient(), 'op-1'));
    expect(error).toMatchObject({ code: 'refused', message: "mini-1: its BMC's task ended as Exception" });
  });

  test('one that outlasts the signal is a time-out, and nobody asks any more', async () => {
    lab.fault('task', { ms: 3600 * second });
    const stop = new AbortController();
    let waits = 0;
    const clock = {
      now: Date.now,
      monotonic: Date.now,
      sleep: async () => {
        waits += 1;
        if (waits === 3) stop.abort();
      },
    };
    const error = await failing(async () => (await lab.driver({}, { clock })).set('on', stop.signal, 'op-1'));
    expect(error).toMatchObject({ code: 'timeout', final: false });
    expect(waits).toBe(3);
  });

  const accepted = { status: 202, headers: { location: '/task/1', 'retry-after': '7' } };
  test.each<[string, Answers]>([
    ['forgotten when done', {}],
    ['a task that says it is completed', { 'GET /task/1': { body: { TaskState: 'Completed' } } }],
    ['a monitor without a body', { 'GET /task/1': { status: 204 } }],
  ])('%s', async (_, answers) => {
    expect(await told('on', {}, { [`POST ${target}`]: accepted, ...answers })).toEqual(['On']);
  });

  test('a task elsewhere is not followed', async () => {
    const elsewhere = { status: 202, headers: { location: 'http://10.9.9.9/task/1' } };
    expect(await failing(() => told('on', {}, { [`POST ${target}`]: elsewhere }))).toMatchObject({
      code: 'refused',
    });
  });

  test('a 202 that names no task is taken as it is', async () => {
    expect(await told('on', {}, { [`POST ${target}`]: { status: 202 } })).toEqual(['On']);
  });
});

describe('makers who say "not now"', () => {
  test.each([
    ['Dell Inc.', 'IDRAC.2.9.SYS518', 503, 10_000],
    ['Dell Inc.', 'Base.1.18.ActionParameterValueConflict', 409, 10_000],
    ['HPE', 'iLO.2.15.UnableToModifyDuringSystemPOST', 400, 15_000],
    ['Hewlett Packard Enterprise', 'Base.1.18.InvalidOperationForSystemState', 400, 15_000],
  ])('%s: %s is busy', async (manufacturer, messageId, status, retryAfterMs) => {
    const lab = closing(await startLabBmc());
    lab.fault('maker', { manufacturer });
    lab.fault('not-now', { messageId, status, times: 1 });
    const driver = await lab.driver();
    const error = await failing(() => driver.set('on', patient(), 'op-1'));
    expect(error).toMatchObject({ code: 'busy', final: false, retryAfterMs });
    expect(error.message).toContain(messageId);
    await driver.set('on', patient(), 'op-1');
    expect(lab.machine.phase).toBe('powering-on');
  });

  test('anybody else who says so has refused', async () => {
    const lab = await startLabBmc();
    lab.fault('not-now', { status: 409 });
    const error = await failing(async () => (await lab.driver()).set('on', patient(), 'op-1'));
    await lab.close();
    expect(error).toMatchObject({ code: 'refused' });
  });

  test('every row of the table is reached by a name that its maker uses', () => {
    const names = [
      'Dell Inc.',
      'HPE',
      'Supermicro',
      'Super Micro Computer, Inc.',
      'American Megatrends',
      'Lenovo',
    ];
    expect(new Set(names.map(quirkOf))).toEqual(new Set(quirks));
    expect(quirks).not.toContain(quirkOf('Bamel'));
    expect(quirks).not.toContain(quirkOf(undefined));
  });
});
