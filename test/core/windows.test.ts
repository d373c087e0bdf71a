import { cronProblem } from '../../shared/core/cron.ts';
import { isOpen, minimumOf } from '../../shared/core/windows.ts';
import { minute, pool } from './support/builders.ts';

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
])('%p is no cron line, and it is told what to write', (cron) => {
  expect(cronProblem(cron)).toMatch(/write/);
});

test('a pool is warm a boot time before its window opens', () => {
  const morning = pool({ minNodes: 1, schedule: [{ ...work, minNodes: 3 }] });
  expect(minimumOf(morning, at('06:50:00'), 5 * minute)).toMatchObject({ nodes: 1 });
  expect(minimumOf(morning, at('06:55:00'), 5 * minute)).toMatchObject({
    nodes: 3,
    why: expect.stringContaining('soon'),
  });
  expect(minimumOf(morning, at('12:00:00'), 5 * minute)).toMatchObject({ nodes: 3 });
  expect(minimumOf(morning, at('17:00:00'), 5 * minute)).toMatchObject({ nodes: 1 });
});
