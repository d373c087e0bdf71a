import { parseDemand, parseTime } from '../../simulator/replay/demand-csv.ts';
import { toHistory, usualStep } from '../../simulator/replay/history.ts';

test('rows in any order, times in any of the usual forms, other columns beside', () => {
  const samples = parseDemand(
    'Active,time,comment,total\n3,2024-03-01 00:10:00,x,9\n2.5,2024-03-01T00:00:00Z,,9\n4,1709252400,y,10\n',
  );
  expect(samples).toEqual([
    { at: Date.UTC(2024, 2, 1), active: 3, total: 9 },
    { at: Date.UTC(2024, 2, 1, 0, 10), active: 3, total: 9 },
    { at: Date.UTC(2024, 2, 1, 0, 20), active: 4, total: 10 },
  ]);
});

test('a time without a zone is UTC; with one it is not', () => {
  expect(parseTime('2024-03-01')).toBe(Date.UTC(2024, 2, 1));
  expect(parseTime('2024-03-01 01:00:00+01:00')).toBe(Date.UTC(2024, 2, 1));
  expect(parseTime('1709251200000')).toBe(Date.UTC(2024, 2, 1));
});

test.each([
  ['', 'the file is empty'],
  ['time,total\n1,2\n', 'there is no column active'],
  ['when,active\n1,2\n', 'there is no column time'],
  ['time,active\n2024-03-01,1\nyesterday,1\n', 'line 3: time is "yesterday"'],
  ['time,active\n2024-03-01,1\n2024-03-02,-4\n', 'line 3: active is "-4"'],
  ['time,active\n2024-03-01,1\n2024-03-02,\n', 'line 3: active is ""'],
  ['time,active\n2024-03-01,1\n', 'at least two rows'],
])('%j is refused, and it says why', (text, why) => {
  expect(() => parseDemand(text)).toThrow(why);
});

test('within a step the largest need counts; a step without a row repeats the one before', () => {
  const minute = 60_000;
  const rows = [0, 4, 11, 35].map((at, index) => ({ at: at * minute, active: [3, 7, 2, 5][index] ?? 0 }));
  expect(toHistory(rows, 10 * minute)).toEqual({
    start: 0,
    stepMs: 10 * minute,
    needs: [7, 2, 2, 5],
    filled: 1,
  });
  expect(usualStep(rows)).toBe(7 * minute);
});
