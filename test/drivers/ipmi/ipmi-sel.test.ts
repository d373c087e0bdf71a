import type { PowerDriver } from '../../../shared/ports/power.ts';
import { patient } from '../harness.ts';
import { type IpmiBmc, startIpmiBmc } from './ipmi-bmc.ts';
import { ipmiDriver } from './ipmi-harness.ts';

let bmc: IpmiBmc;
let driver: PowerDriver;
beforeEach(async () => {
  bmc = await startIpmiBmc();
  driver = await ipmiDriver(bmc.port);
});
afterEach(async () => {
  expect(bmc.openSessions).toBe(0);
  await bmc.close();
});

const seconds = 1_790_000_000;
const read = (after?: string) => driver.readLog?.(after, patient());

/** A system event: kind of sensor, its number, type of event with the direction, offset. */
function record(id: number, [sensor, number, type, offset]: number[], at = seconds, kind = 2): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(id, 0);
  bytes.writeUInt8(kind, 2);
  bytes.writeUInt32LE(at, 3);
  bytes.set([0x20, 0, 4, sensor ?? 0, number ?? 0, type ?? 0, offset ?? 0, 0xff, 0xff], 7);
  return bytes;
}
const psuFailed = [8, 0x51, 0x6f, 1];
const fill = (...records: Buffer[]): void => {
  bmc.chassis.sel = {
    erasedAt: 5,
    records: new Map(records.map((one) => [one.readUInt16LE(0), one])),
  };
};

test.each([
  [psuFailed, 'power supply 0x51: failure detected'],
  [[1, 0x30, 0x01, 9], 'temperature 0x30: above its critical threshold'],
  [[2, 0x10, 0x01, 2], 'voltage 0x10: below its critical threshold'],
  [[7, 0x61, 0x6f, 1], 'processor 0x61: thermal trip'],
  [[12, 1, 0x6f, 1], 'memory 0x01: uncorrectable ECC error'],
  [[4, 0x40, 0x07, 2], 'fan 0x40: critical'],
  [[0xc1, 2, 0x07, 3], 'sensor of type 0xc1 0x02: non-recoverable'],
])('event %j is critical: %s', async (event, text) => {
  fill(record(1, event));
  expect(await read()).toEqual({
    last: '5/1',
    restarted: true,
    entries: [
      {
        kind: 'critical',
        about: event.join('.'),
        text: `${text} (${new Date(seconds * 1000).toISOString()})`,
        at: seconds * 1000,
      },
    ],
  });
});

test.each([
  ['a threshold that is not critical', [1, 0x30, 0x01, 7]],
  ['a failure that is only foretold', [8, 0x51, 0x6f, 2]],
  ['an ECC error that was corrected', [12, 1, 0x6f, 0]],
  ['somebody who opened the case', [5, 1, 0x6f, 0]],
])('%s is nothing', async (_name, event) => {
  fill(record(1, event));
  expect((await read())?.entries).toEqual([]);
});

test("vendors' own records are nothing", async () => {
  fill(record(1, psuFailed, seconds, 0xc0), record(2, psuFailed, seconds, 0xe0));
  expect((await read())?.entries).toEqual([]);
});

test('the end of it is told', async () => {
  fill(record(1, psuFailed), record(2, [8, 0x51, 0xef, 1]));
  expect((await read())?.entries.map(({ kind, about }) => [kind, about])).toEqual([
    ['critical', '8.81.111.1'],
    ['over', '8.81.111.1'],
  ]);
});

test('a BMC that does not know the time', async () => {
  fill(record(1, psuFailed, 300), record(2, psuFailed, 0xffff_ffff));
  expect((await read())?.entries.map(({ at, text }) => [at, text])).toEqual([
    [undefined, 'power supply 0x51: failure detected'],
    [undefined, 'power supply 0x51: failure detected'],
  ]);
});

test('goes on from where it was read to', async () => {
  fill(...[1, 2, 3].map((id) => record(id, psuFailed)));
  const first = await read();
  expect(first).toMatchObject({ last: '5/3', restarted: true });
  expect(first?.entries).toHaveLength(3);
  expect(await read(first?.last)).toEqual({ last: '5/3', restarted: false, entries: [] });
  // Numbers need not follow each other.
  bmc.chassis.sel?.records.set(0x40, record(0x40, psuFailed));
  const second = await read(first?.last);
  expect(second).toMatchObject({ last: '5/64', restarted: false });
  expect(second?.entries).toHaveLength(1);
});

test('one that was cleared is read anew, though its numbers begin again', async () => {
  fill(record(1, psuFailed));
  const { last } = (await read()) ?? {};
  bmc.chassis.sel = { erasedAt: 6, records: new Map([[1, record(1, [7, 0x61, 0x6f, 0])]]) };
  expect(await read(last)).toMatchObject({
    last: '6/1',
    restarted: true,
    entries: [{ about: '7.97.111.0' }],
  });
  bmc.chassis.sel = { erasedAt: 7, records: new Map() };
  expect(await read('6/1')).toEqual({ restarted: true, entries: [] });
});

test('of a long one the newest are read', async () => {
  fill(...Array.from({ length: 300 }, (_, index) => record(index + 1, [8, index & 0xff, 0x6f, 1])));
  const reading = await read();
  expect(reading?.last).toBe('5/300');
  expect(reading?.entries).toHaveLength(64);
  expect(reading?.entries.at(-1)?.about).toBe(`8.${299 & 0xff}.111.1`);
  expect(bmc.received.filter((name) => name === '0a.43').length).toBeLessThanOrEqual(65);
});

test('what does not fit into one reading is read by the next', async () => {
  fill(record(1, psuFailed));
  for (let id = 2; id <= 100; id += 1) bmc.chassis.sel?.records.set(id, record(id, psuFailed));
  const second = await read('5/1');
  expect(second).toMatchObject({ last: '5/65', restarted: false });
  expect((await read(second?.last))?.last).toBe('5/100');
});

test('a BMC without a log', async () => {
  expect(await read()).toBeUndefined();
});
