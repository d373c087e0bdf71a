import { cronProblem } from '../../shared/core/limits/cron.ts';
import { isOpen, minimumOf } from '../../shared/core/limits/windows.ts';
import { minute, pool } from './support/builders.ts';

const { jest } = import.meta;
const hour = 60 * minute;
/** A Monday. */
const at = (time: string) => Date.parse(`2026-11-16T${time}Z`);
const work = { cron: '0 7 * * 1-5', forMs: 10 * hour };

test.each([
  ['06:59', false],
  ['07:00', true],
  ['16:59', true],
  ['17:00', false],
])('weekdays from seven, for ten hours: at %s', (time, open) => {
  expect(isOpen(work, at(`${time}:00`))).toBe(open);
});

test('not on a Sunday', () => {
  expect(isOpen(work, Date.parse('2026-11-15T12:00:00Z'))).toBe(false);
});

test('a window may last over midnight', () => {
  const night = { cron: '0 22 * * *', forMs: 8 * hour };
  expect(isOpen(night, at('05:59:00'))).toBe(true);
  expect(isOpen(night, at('06:00:00'))).toBe(false);
});

test.each([
  ['Europe/Berlin', '06:00:00', '05:59:00'],
  ['America/New_York', '12:00:00', '11:59:00'],
  ['Asia/Kolkata', '01:30:00', '01:29:00'],
])('clocks of %s', (timeZone, open, shut) => {
  expect(isOpen({ ...work, timeZone }, at(open))).toBe(true);
  expect(isOpen({ ...work, timeZone }, at(shut))).toBe(false);
});

test.each([
  ['0 0 29 2 *', '2028-02-29T00:00:00Z', true],
  ['0 0 29 2 *', '2027-02-28T00:00:00Z', false],
  ['*/15 * * * *', '2026-11-16T10:30:00Z', true],
  ['*/15 * * * *', '2026-11-16T10:31:00Z', false],
  ['0 9 1 * mon', '2026-11-16T09:00:00Z', true],
  ['0 9 1 * mon', '2026-12-01T09:00:00Z', true],
  ['0 9 1 * mon', '2026-12-02T09:00:00Z', false],
  ['30 8 * jan-mar,dec 0', '2026-12-06T08:30:00Z', true],
  ['30 8 * * 7', '2026-12-06T08:30:00Z', true],
  ['5/15 * * * *', '2026-11-16T10:20:00Z', true],
  ['5/15 * * * *', '2026-11-16T10:15:00Z', false],
  ['0 9 * * 5/2', '2026-12-06T09:00:00Z', true],
  ['0 9 */2 * mon', '2026-11-16T09:00:00Z', false],
  ['0 9 */2 * mon', '2026-11-23T09:00:00Z', true],
])('%s at %s: %s', (cron, time, open) => {
  expect(isOpen({ cron, forMs: minute }, Date.parse(time))).toBe(open);
});

test.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '0 0 0 * *',
  '* * * 13 *',
  '* * * * 8',
  '5-1 * * * *',
  '*/0 * * * *',
  'a * * * *',
  '*/90 * * * *',
  '@daily',
  '0 0 L * *',
  '0 0 15W * *',
  '0 0 ? * *',
  '0 0 * * 5#2',
])('%p is no cron line, and it is told what to write', (cron) => {
  expect(cronProblem(cron)).toMatch(/write/);
});

const berlin = { timeZone: 'Europe/Berlin', forMs: 10 * minute };

test.each([
  ['2026-03-29T00:59:59Z', false],
  ['2026-03-29T01:00:00Z', true],
  ['2026-03-29T01:09:59Z', true],
  ['2026-03-29T01:10:00Z', false],
])(
  'half past two does not exist on the day summer time begins, the window opens at three: %s',
  (time, open) => {
    expect(isOpen({ ...berlin, cron: '30 2 * * *' }, Date.parse(time))).toBe(open);
  },
);

test.each([
  ['2026-10-25T00:30:00Z', true],
  ['2026-10-25T00:40:00Z', false],
  ['2026-10-25T01:30:00Z', false],
])('half past two occurs twice on the day summer time ends, the window opens once: %s', (time, open) => {
  expect(isOpen({ ...berlin, cron: '30 2 * * *' }, Date.parse(time))).toBe(open);
});

test('an hourly window opens in both of the hours that have the same name', () => {
  const hourly = { ...berlin, cron: '0 * * * *' };
  for (const time of ['00:00', '01:00', '02:00'])
    expect(isOpen(hourly, Date.parse(`2026-10-25T${time}:00Z`))).toBe(true);
});

test('a window lasts as long as it says, also over the end of summer time', () => {
  const night = { cron: '0 22 * * *', forMs: 8 * hour, timeZone: 'Europe/Berlin' };
  expect(isOpen(night, Date.parse('2026-10-25T03:59:00Z'))).toBe(true);
  expect(isOpen(night, Date.parse('2026-10-25T04:00:00Z'))).toBe(false);
});

test('the clock of the process does not matter', () => {
  jest.useFakeTimers({ now: 0 });
  try {
    expect(isOpen(work, at('07:00:00'))).toBe(true);
    expect(isOpen(work, at('06:59:59'))).toBe(false);
  } finally {
    jest.useRealTimers();
  }
});

test('a pool is warm a boot time before its window opens', () => {
  const morning = pool({ minNodes: 1, schedule: [{ ...work, minNodes: 3 }] });
  expect(minimumOf(morning, at('06:50:00'), 5 * minute)).toMatchObject({ nodes: 1 });
  expect(minimumOf(morning, at('06:55:00'), 5 * minute)).toMatchObject({
    nodes: 3,
    why: { code: 'schedule-begins' },
  });
  expect(minimumOf(morning, at('12:00:00'), 5 * minute)).toMatchObject({ nodes: 3 });
  expect(minimumOf(morning, at('17:00:00'), 5 * minute)).toMatchObject({ nodes: 1 });
});
