import type { LogReading } from '../../../shared/core/machine/hardware-log.ts';
import type { PowerDriver } from '../../../shared/ports/power.ts';
import { type Answers, driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

const system = '/redfish/v1/Systems/a';
const link = (path: string) => ({ '@odata.id': path });
const members = (...paths: string[]) => ({ body: { Members: paths.map(link) } });
const entry = (Id: string, more: object = {}) => ({
  Id,
  Severity: 'Critical',
  Message: `fault ${Id}`,
  Created: `2026-11-0${Id}T00:00:00Z`,
  ...more,
});
const entries = (...all: object[]) => ({ body: { Members: all } });
const texts = (reading: LogReading | undefined) => reading?.entries.map(({ text }) => text);

const usual: Answers = {
  [`GET ${system}`]: { body: { PowerState: 'Off', LogServices: link('/logs') } },
  'GET /logs': members('/logs/audit', '/logs/sel'),
  'GET /logs/audit': { body: { Id: 'AuditLog', LogEntryType: 'Event', Entries: link('/no') } },
  'GET /logs/sel': { body: { Id: 'Log', LogEntryType: 'SEL', Entries: link('/sel') } },
};

let close: () => Promise<void> = async () => undefined;
afterEach(() => close());

async function start(answers: Answers) {
  const said: Answers = { ...usual, ...answers };
  const bmc = await startScripted({}, (_request, all) => Object.assign(all, said));
  close = () => bmc.close();
  const driver: PowerDriver = await driverOf(machineSpec(bmc.url, { options: { system } }));
  return { said, bmc, read: (after?: string) => driver.readLog?.(after, patient()) };
}

test('the log of the hardware is found once, and only what is critical counts', async () => {
  const { bmc, read } = await start({
    'GET /sel': entries(entry('1'), entry('2', { Severity: 'Warning' }), entry('3', { Severity: 'OK' })),
  });
  expect(await read()).toEqual({
    last: '3 2026-11-03T00:00:00Z',
    restarted: true,
    entries: [
      {
        kind: 'critical',
        about: '1 2026-11-01T00:00:00Z',
        text: 'fault 1 (2026-11-01T00:00:00Z)',
        at: Date.parse('2026-11-01'),
      },
    ],
  });
  const before = bmc.requests.length;
  await read();
  expect(bmc.requests.slice(before)).toEqual(['GET /sel']);
});

test('goes on from where it was read to, whatever the order of the list', async () => {
  const { said, read } = await start({ 'GET /sel': entries(entry('2'), entry('1')) });
  const { last } = (await read()) ?? {};
  expect(last).toBe('2 2026-11-02T00:00:00Z');
  expect(await read(last)).toEqual({ last, restarted: false, entries: [] });
  said['GET /sel'] = entries(entry('4'), entry('3'), entry('2'), entry('1'));
  const second = await read(last);
  expect(texts(second)).toEqual(['fault 3 (2026-11-03T00:00:00Z)', 'fault 4 (2026-11-04T00:00:00Z)']);
  expect(second?.restarted).toBe(false);
  // Cleared; numbers begin again.
  said['GET /sel'] = entries(entry('1', { Created: '2026-11-09T00:00:00Z' }));
  expect(await read(second?.last)).toMatchObject({ restarted: true, entries: [{ kind: 'critical' }] });
});

test('what is resolved or was called off is over', async () => {
  const sensor = { SensorType: 'Fan', SensorNumber: 3 };
  const { said, read } = await start({
    'GET /sel': entries(entry('1'), entry('2', { EntryCode: 'Assert', ...sensor })),
  });
  const first = await read();
  expect(first?.entries.map(({ about }) => about)).toEqual(['1 2026-11-01T00:00:00Z', 'Fan 3']);
  said['GET /sel'] = entries(
    entry('1', { Resolved: true }),
    entry('2', { EntryCode: 'Assert', ...sensor }),
    entry('3', { EntryCode: 'Deassert', Severity: 'OK', ...sensor }),
  );
  expect((await read(first?.last))?.entries).toEqual([
    { kind: 'over', about: '1 2026-11-01T00:00:00Z', text: '' },
    { kind: 'over', about: 'Fan 3', text: '' },
  ]);
});

test('pages, and lists that have only links', async () => {
  const { said, read } = await start({
    'GET /sel': { body: { Members: [entry('1')], 'Members@odata.nextLink': '/sel?page=2' } },
    'GET /sel?page=2': entries(entry('2')),
  });
  expect(texts(await read())).toHaveLength(2);
  said['GET /sel'] = members(...Array.from({ length: 20 }, (_, index) => `/sel/${index + 1}`));
  for (let id = 1; id <= 20; id += 1)
    said[`GET /sel/${id}`] = { body: entry(String(id), { Created: undefined }) };
  const reading = await read();
  expect(texts(reading)).toHaveLength(16);
  expect(texts(reading)?.at(-1)).toBe('fault 20');
});

test('of a long log that begins with the newest, only what is new is read', async () => {
  const listed = (from: number, more: object = {}) => ({
    body: {
      Members: Array.from({ length: 4 }, (_, index) =>
        entry(String(from - index), { Created: new Date(Date.UTC(2026, 10, from - index)).toISOString() }),
      ),
      ...more,
    },
  });
  const { bmc, read } = await start({
    'GET /sel': listed(12, { 'Members@odata.nextLink': '/sel?page=2' }),
    'GET /sel?page=2': listed(8, { 'Members@odata.nextLink': '/sel?page=3' }),
    'GET /sel?page=3': listed(4),
  });
  expect(texts(await read())).toHaveLength(12);
  const before = bmc.requests.length;
  const reading = await read('10 2026-11-10T00:00:00.000Z');
  expect(texts(reading)).toHaveLength(2);
  expect(reading?.restarted).toBe(false);
  expect(bmc.requests.slice(before)).toEqual(['GET /sel']);
});

test.each(['IML', 'EventLog', 'Sel'])('the log %s of the manager, where the system has none', async (Id) => {
  const { read } = await start({
    [`GET ${system}`]: { body: { PowerState: 'Off', Links: { ManagedBy: [link('/manager')] } } },
    'GET /manager': { body: { LogServices: link('/logs') } },
    'GET /logs/sel': { body: { Id, Entries: link('/sel') } },
    'GET /sel': entries(entry('1')),
  });
  expect(texts(await read())).toHaveLength(1);
});

test('a BMC without a log is asked no more', async () => {
  const { bmc, read } = await start({ [`GET ${system}`]: { body: { PowerState: 'Off' } } });
  expect(await read()).toBeUndefined();
  const before = bmc.requests.length;
  expect(await read()).toBeUndefined();
  expect(bmc.requests).toHaveLength(before);
});

test('a log that has moved is looked for anew', async () => {
  const { said, read } = await start({ 'GET /sel': { status: 404 } });
  expect(await failing(async () => read())).toMatchObject({ code: 'refused' });
  said['GET /logs/sel'] = { body: { LogEntryType: 'SEL', Entries: link('/moved') } };
  said['GET /moved'] = entries(entry('1'));
  expect(texts(await read())).toHaveLength(1);
});

describe('on the lab BMC', () => {
  let lab: LabBmc;
  beforeEach(async () => {
    lab = await startLabBmc();
  });
  afterEach(() => lab.close());

  test('an empty log, then one with an entry', async () => {
    const driver = await lab.driver();
    expect(await driver.readLog?.(undefined, patient())).toEqual({ entries: [], restarted: true });
    lab.fault('logged', { message: 'CPU 1: thermal trip' });
    expect(texts(await driver.readLog?.(undefined, patient()))).toEqual(['CPU 1: thermal trip']);
  });
});
