import { newId } from '../../shared/process/ids.ts';

test('ids sort by the time they were made', () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 2 ** 48 - 1];
  const ids = times.map((time) => newId('op', time));
  expect([...ids].sort()).toEqual(ids);
});

test('ids are unique and fit for Kubernetes names and store keys', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('d', 1_700_000_000_000));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^d-[0-9a-z]{18}$/.test(id))).toEqual([]);
});
